import { createDisclosureTools, type DisclosureTools, type FoundSkill } from '../tools/agent/disclosure-tools.ts';
import { LIST_SKILLS, LOAD_SKILL, READ_SKILL_FILE, SEARCH_SKILLS } from '../tools/agent/skill-tools-table.ts';
import { type GivenSkills, skillSource } from '../jobs/request/skill-source.ts';
import type { SkillFileContent } from '../skills/load/files/read-skill-file.ts';
import { cutText, wholeAt } from './answers/cut-text.ts';
import type { ListedSkill, LoadedSkill, SandboxTools } from './sandbox-tools.ts';
import { declared, sdkTool } from './sdk-tool.ts';
import { takeFitting } from './answers/take-fitting.ts';

/** Lines of a text, from its beginning. */
interface CutLines {
  text: string;
  /** Number of the lines. */
  count: number;
  /** Whether the only line is itself cut. */
  isParted: boolean;
}

/** Options of {@link createSkillTools}. */
export interface SkillToolsOptions {
  skills: GivenSkills;
  consumer: string;
  /** Characters of a list, of instructions, or of a file that the model sees. */
  outputCharacters: number;
  /** Ids of tools that programs may call: a skill that requires another tool is not shown. */
  known(): readonly string[];
}

type SkillTools = Required<Pick<SandboxTools, 'list_skills' | 'search_skills' | 'load_skill' | 'read_skill_file'>>;
/** Calls one of the tools of skills that jobs have. */
type Call = <Output>(id: string, input: unknown) => Promise<Output>;

/** Skills are fetched before a call, so that its answer comes from memory and no signal needs to abort it. */
const AROUND = { context: undefined, signal: new AbortController().signal, jobId: '', attempt: 1 };

/** Makes the tools by which a model finds and reads the skills that the consumer may have. */
export function createSkillTools({ skills, consumer, outputCharacters, known }: SkillToolsOptions): SkillTools {
  const source = skillSource(skills);
  const disclosure = createDisclosureTools({ skills: source.known, consumer });
  const call: Call = async (id, input) => {
    const { skill } = input as { skill?: string };
    disclosure.use(await source.present({ consumer, refs: skill === undefined ? [] : [skill] }));
    // Each call starts anew: another conversation may not have read the same instructions. Citations keep their numbers.
    disclosure.begin({ active: [], pool: disclosure.pool, tools: known() });
    return (await disclosure.tools.find((tool) => tool.id === id)?.execute(input, AROUND)) as never;
  };
  return {
    list_skills: listSkills(call, outputCharacters),
    search_skills: searchSkills(call, outputCharacters),
    load_skill: loadSkill(call, disclosure, outputCharacters),
    read_skill_file: readSkillFile(call, outputCharacters),
  };
}

function listSkills(call: Call, characters: number): SkillTools['list_skills'] {
  return sdkTool({
    ...declared(LIST_SKILLS),
    async execute() {
      const rows = await call<ListedSkill[]>(LIST_SKILLS.id, {});
      const all = rows.map(({ id, name, brief }) => ({ id, name, brief }));
      const skills = takeFitting(all, characters);
      return { skills, ...notesOf([leftOut(all.length - skills.length, 'skills')]) };
    },
  });
}

function searchSkills(call: Call, characters: number): SkillTools['search_skills'] {
  return sdkTool({
    ...declared(SEARCH_SKILLS),
    async execute(input) {
      const rows = await call<FoundSkill[]>(SEARCH_SKILLS.id, input);
      const all = rows.map(({ id, name, brief, score, snippet }) => ({ id, name, brief, score, snippet }));
      const skills = takeFitting(all, characters);
      return { skills, ...notesOf([leftOut(all.length - skills.length, 'skills')]) };
    },
  });
}

function loadSkill(call: Call, disclosure: DisclosureTools, characters: number): SkillTools['load_skill'] {
  return sdkTool<{ skill: string }, LoadedSkill>({
    ...declared(LOAD_SKILL),
    async execute(input) {
      const { id, instructions, files, tools } = await call<LoadedSkill>(LOAD_SKILL.id, input);
      const listed = takeFitting(files, characters);
      const isCut = instructions.length > characters;
      return {
        id,
        instructions: cutText({ text: instructions, bytes: instructions.length, truncated: false }, characters),
        files: listed,
        tools,
        ...(disclosure.pool.length === 0 ? {} : { sources: [...disclosure.pool] }),
        ...notesOf([
          isCut ? 'The instructions are cut: read_skill_file gives SKILL.md by lines.' : undefined,
          leftOut(files.length - listed.length, 'files'),
        ]),
      };
    },
  });
}

function readSkillFile(call: Call, characters: number): SkillTools['read_skill_file'] {
  return sdkTool({
    ...declared(READ_SKILL_FILE),
    async execute(input) {
      const read = await call<SkillFileContent & { as: 'text' }>(READ_SKILL_FILE.id, input);
      const { text, count, isParted } = cutLines(read.text, characters);
      const next = read.offset + count;
      return {
        path: read.path,
        text,
        offset: read.offset,
        lines: read.lines,
        ...(next < read.lines ? { next } : {}),
        ...notesOf([isParted ? `The line is cut after ${text.length} characters.` : undefined]),
      };
    },
  });
}

function leftOut(count: number, what: string): string | undefined {
  return count === 0 ? undefined : `There are ${count} more ${what}.`;
}

function notesOf(found: readonly (string | undefined)[]): { notes?: string[] } {
  const notes = found.filter((note) => note !== undefined);
  return notes.length === 0 ? {} : { notes };
}

/** As many whole lines as fit, so that the reader can go on with the next line. If the first line does not fit, its beginning. */
function cutLines(text: string, characters: number): CutLines {
  if (text.length <= characters)
    return { text, count: text.split('\n').length - (text.endsWith('\n') ? 1 : 0), isParted: false };
  const end = text.lastIndexOf('\n', characters - 1) + 1;
  if (end === 0) return { text: text.slice(0, wholeAt(text, characters)), count: 1, isParted: true };
  const kept = text.slice(0, end);
  return { text: kept, count: kept.split('\n').length - 1, isParted: false };
}
