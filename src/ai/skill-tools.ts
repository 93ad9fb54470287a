import * as z from 'zod/mini';
import {
  createDisclosureTools,
  type DisclosureTools,
  type FoundSkill,
  SEARCHED_CHARACTERS,
  SEARCHED_SKILLS,
} from '../tools/agent/disclosure-tools.ts';
import { type GivenSkills, skillSource } from '../jobs/request/skill-source.ts';
import { READ_LINES, type SkillFileContent } from '../skills/load/files/read-skill-file.ts';
import { cutText, wholeAt } from './answers/cut-text.ts';
import type { ListedSkill, LoadedSkill, SandboxTools } from './sandbox-tools.ts';
import { sdkTool } from './sdk-tool.ts';
import { filePath, SKILL_FIELD, skillReference } from './skill-fields.ts';
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

/** Answers come from memory, so no signal needs to abort them. */
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
    name: 'list_skills',
    description:
      'Lists the skills that there are: instructions and files for certain tasks. Load one before you do what it is for.',
    schema: z.strictObject({}),
    fields: {},
    async execute() {
      const rows = await call<ListedSkill[]>('skills.list', {});
      const all = rows.map(({ id, name, brief }) => ({ id, name, brief }));
      const skills = takeFitting(all, characters);
      return { skills, ...notesOf([leftOut(all.length - skills.length, 'skills')]) };
    },
  });
}

function searchSkills(call: Call, characters: number): SkillTools['search_skills'] {
  return sdkTool({
    name: 'search_skills',
    description:
      'Finds skills by words of what is to be done, the best first: where there are many, it is shorter than the list.',
    schema: z.strictObject({
      text: z.string().check(z.maxLength(SEARCHED_CHARACTERS)),
      max: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(SEARCHED_SKILLS))),
    }),
    fields: {
      text: 'What is to be done, in plain words.',
      max: `Skills, at most ${SEARCHED_SKILLS}; 10 unless it is named.`,
    },
    async execute(input) {
      const rows = await call<FoundSkill[]>('skills.search', input);
      const all = rows.map(({ id, name, brief, score, snippet }) => ({ id, name, brief, score, snippet }));
      const skills = takeFitting(all, characters);
      return { skills, ...notesOf([leftOut(all.length - skills.length, 'skills')]) };
    },
  });
}

function loadSkill(call: Call, disclosure: DisclosureTools, characters: number): SkillTools['load_skill'] {
  return sdkTool<{ skill: string }, LoadedSkill>({
    name: 'load_skill',
    description: 'Gives the instructions of a skill, its files, and the tools that it is about.',
    schema: z.strictObject({ skill: skillReference }),
    fields: { skill: SKILL_FIELD },
    async execute(input) {
      const { id, instructions, files, tools } = await call<LoadedSkill>('skills.load', input);
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
    name: 'read_skill_file',
    description: 'Reads a text file of a skill, by lines.',
    schema: z.strictObject({
      skill: skillReference,
      path: filePath,
      offset: z.optional(z.number().check(z.int(), z.minimum(0))),
      limit: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(READ_LINES))),
    }),
    fields: {
      skill: SKILL_FIELD,
      path: "Below the skill's folder, as load_skill lists it.",
      offset: 'The first line, from 0.',
      limit: `Lines, at most ${READ_LINES}.`,
    },
    async execute(input) {
      const read = await call<SkillFileContent & { as: 'text' }>('skills.read', input);
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

/** As many whole lines as fit, so that the reader goes on with the next one; if the first line does not fit, its beginning. */
function cutLines(text: string, characters: number): CutLines {
  if (text.length <= characters)
    return { text, count: text.split('\n').length - (text.endsWith('\n') ? 1 : 0), isParted: false };
  const end = text.lastIndexOf('\n', characters - 1) + 1;
  if (end === 0) return { text: text.slice(0, wholeAt(text, characters)), count: 1, isParted: true };
  const kept = text.slice(0, end);
  return { text: kept, count: kept.split('\n').length - 1, isParted: false };
}
