import { createLimiter } from '../../protocol/limiter.ts';
import * as z from 'zod/mini';
import { ToolError } from '../define/tool-errors.ts';
import type { Tool, ToolContext } from '../define/tool.ts';
import type { Skill, SourceRow } from '../../contracts/skills/skill.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { cutTo } from '../../skills/text/text.ts';
import { listFitting } from './list-fitting.ts';
import { shownSkillId } from './shown-skill-id.ts';
import {
  type AgentTool,
  LIST_SKILLS,
  LOAD_SKILL,
  LOAD_SKILL_TEXT,
  READ_BYTES,
  READ_SKILL_FILE,
  SEARCH_SKILLS,
} from './skill-tools-table.ts';
import type { ConsumerOptions, SkillsSubsystem } from '../../skills/index.ts';

/** Skills and rights of one job's skill tools. */
export interface DisclosureOptions extends ConsumerOptions {
  skills: SkillsSubsystem;
  /** The consumer whose policy applies. */
  consumer: string;
}

/** A search hit, in the form for models. */
export interface FoundSkill {
  id: string;
  name: string;
  brief: string;
  score: number;
  /** The part of the skill with most of the words. */
  snippet: string;
}

/** The skills of a job at its beginning. */
export interface KnownSkills {
  /** Full ids of the skills whose instructions the job has already. */
  active: readonly string[];
  /** The sources pool that they were rendered with. */
  pool: readonly SourceRow[];
  /** Ids of the job's tools: a skill that requires another one is not shown. */
  tools: readonly string[];
  /** Gives the job the tools of skills that it loads, and returns their ids. Without it, it gets none. */
  bring?: BringTools | undefined;
}

/**
 * Adds the tools of skills to those of a job.
 *
 * @param ids full ids of skills that were fetched completely
 * @throws ToolError
 */
export type BringTools = (skills: SkillsSubsystem, ids: readonly string[], signal?: AbortSignal) => Promise<string[]>;

/** The tools by which a job finds and reads skills while it runs. */
export interface DisclosureTools {
  tools: Tool[];
  /** The tool `load_skill`, for jobs with `skillTools`. */
  loadText: Tool;
  /** Replaces the skills. */
  use(skills: SkillsSubsystem): void;
  begin(known: KnownSkills): void;
  /** The job begins anew: it has no instructions but those of its beginning. */
  restart(): void;
  /** Gives the job the tools of skills, and returns the new ones. @throws ToolError */
  bring(ids: readonly string[]): Promise<string[]>;
  /** Adds skills whose instructions the job got in another way, and replaces the sources pool. */
  join(active: readonly string[], pool: readonly SourceRow[]): void;
  /** Returns the skills, with the named ones complete. @throws ToolError if they cannot be fetched any more */
  whole(refs: readonly string[]): Promise<SkillsSubsystem>;
  /** Reads a file as text. @throws ToolError with a message for the sandbox */
  read(input: { skill: string; path: string }): Promise<{ text: string; lines: number; more: boolean }>;
  /** The full id of the skill that a reference or a displayed name means; the reference itself if it means none. */
  idOf(ref: string): string;
  /** Message for a reference to no skill of this consumer. */
  unknown(ref: string): string;
  /** The skills as they are now: those that were loaded since are complete. */
  readonly skills: SkillsSubsystem;
  /** The sources pool, with the sources of the skills that were loaded since. */
  readonly pool: readonly SourceRow[];
  /** Full ids of the skills whose instructions were read, in order. */
  readonly active: readonly string[];
}

/** The most characters of an unknown reference in a message. */
const REF_CHARACTERS = 120;

/**
 * Makes the tools of one job: `skills.list`, `skills.search`, `skills.load` and `skills.read`. They show only skills that the
 * job's consumer may load. A denied skill looks like an unknown one.
 */
export function createDisclosureTools(options: DisclosureOptions): DisclosureTools {
  const { consumer, includeInternal } = options;
  let { skills } = options;
  let who: ConsumerOptions = { consumer, includeInternal };
  let active = new Set<string>();
  let pool: readonly SourceRow[] = [];
  let bringTools: BringTools | undefined;
  let atFirst: Pick<KnownSkills, 'active' | 'pool'> = { active: [], pool: [] };

  const list = (): { id: string; name: string; brief: string; active: boolean }[] =>
    skills.visible(who).map(({ id, name, brief }) => ({ id, name, brief, active: active.has(id) }));

  const search = async (
    { text, max }: z.infer<typeof SEARCH_SKILLS.input>,
    { signal }: ToolContext,
  ): Promise<unknown> => {
    // Few jobs search, so the search is loaded late.
    const { searchSkills } = await import('../../library/search/search-skills.ts');
    const found = await searchSkills(skills, text, { ...who, max, signal });
    return found.hits.map(({ id, name, brief, score, snippet }): FoundSkill & { active: boolean } => {
      return { id, name, brief, score, snippet: snippet?.text ?? '', active: active.has(id) };
    });
  };

  /** Calls at the same time would each add to the skills as they were before. */
  const oneFetch = createLimiter({ room: 1 });
  const fetchWhole = async (refs: readonly string[], signal?: AbortSignal): Promise<SkillsSubsystem> => {
    try {
      return (skills = await skills.withWhole({ ...who, refs, signal }));
    } catch (error) {
      if (!SkillcellError.isInstance(error) || !error.code.startsWith('store.')) throw error;
      // The message hides the store's address from the sandbox.
      const reason = error.code === 'store.changed' ? 'it has changed since' : 'its store is out of reach';
      throw new ToolError(`Cannot load ${cutTo(listFitting(refs), REF_CHARACTERS)} as it was: ${reason}.`, {
        cause: error,
      });
    }
  };
  /** Fetches skills of a library that were not fetched before. */
  const whole = (refs: readonly string[], signal?: AbortSignal): Promise<SkillsSubsystem> =>
    oneFetch.run(() => fetchWhole(refs, signal));

  const bring = async (ids: readonly string[], signal?: AbortSignal): Promise<string[]> => {
    const brought = (await bringTools?.(skills, ids, signal)) ?? [];
    if (brought.length > 0) who = { ...who, tools: [...(who.tools ?? []), ...brought] };
    return brought;
  };

  /** Makes a skill active. The instructions are undefined if it is active already. */
  const activate = async (
    given: string,
    { signal }: ToolContext,
  ): Promise<{ skill: Skill; instructions: string | undefined }> => {
    const ref = shownSkillId(given, skills, who);
    await whole([ref], signal);
    const [row] = skills.resolve([ref], who).rows;
    const skill = skills.skills.find(({ id }) => id === row?.id);
    if (row?.status !== 'loaded' || skill === undefined) throw unknownSkill(ref);
    if (!active.has(skill.id)) await bring([skill.id], signal);
    // Another call may have loaded it meanwhile.
    if (active.has(skill.id)) return { skill, instructions: undefined };
    active.add(skill.id);
    const found = skills.loadSkill(ref, { ...who, pool });
    ({ pool } = found);
    return { skill, instructions: found.text };
  };

  const load = async ({ skill: given }: z.infer<typeof LOAD_SKILL.input>, context: ToolContext): Promise<unknown> => {
    const { skill, instructions } = await activate(given, context);
    if (instructions === undefined) return { id: skill.id, status: 'already active' };
    const tools = skill.tools.map(({ id: tool, role, why }) => ({ id: tool, role, why }));
    return { id: skill.id, status: 'loaded', instructions, tools, files: fileRows(skill) };
  };

  const loadText = async (
    { skill_name: given }: z.infer<typeof LOAD_SKILL_TEXT.input>,
    context: ToolContext,
  ): Promise<string> => {
    const { instructions } = await activate(given, context);
    return instructions ?? `The skill ${quotedText(given)} is already active.`;
  };

  const read = async (
    { skill: given, path, ...range }: z.infer<typeof READ_BYTES>,
    { signal }: Partial<ToolContext>,
  ): Promise<unknown> => {
    const skill = shownSkillId(given, skills, who);
    await whole([skill], signal);
    try {
      const file = skills.readSkillFile(skill, path, { ...who, ...range });
      if (file.as === 'bytes') return { path, bytes: file.bytes, content: file.content };
      const { text, offset, lines, more } = file;
      return { path, bytes: file.bytes, text, offset, lines, more };
    } catch (error) {
      if (!SkillcellError.isInstance(error)) throw error;
      if (error.code.startsWith('skills.reference-')) throw unknownSkill(skill);
      throw new ToolError(error.message, { cause: error });
    }
  };

  const unknownSkill = (ref: string): ToolError => {
    const ids = list().map(({ id }) => id);
    const there = ids.length === 0 ? 'there are none' : `there are ${listFitting(ids)}`;
    return new ToolError(`There is no skill ${cutTo(quotedText(ref), REF_CHARACTERS)} here; ${there}.`);
  };

  return {
    tools: [
      skillTool(LIST_SKILLS, list),
      skillTool(SEARCH_SKILLS, search),
      skillTool(LOAD_SKILL, load),
      skillTool({ ...READ_SKILL_FILE, input: READ_BYTES }, read),
    ],
    loadText: { ...skillTool(LOAD_SKILL_TEXT, loadText), output: z.string() },
    use(present) {
      skills = present;
    },
    begin(known) {
      atFirst = known;
      active = new Set(known.active);
      ({ pool } = known);
      who = { consumer, includeInternal, tools: known.tools };
      bringTools = known.bring;
    },
    restart() {
      active = new Set(atFirst.active);
      ({ pool } = atFirst);
    },
    bring: (ids) => bring(ids),
    join(ids, after) {
      for (const id of ids) active.add(id);
      pool = after;
    },
    whole,
    read: async (input) => (await read(input, {})) as { text: string; lines: number; more: boolean },
    idOf: (ref) => shownSkillId(ref, skills, who),
    unknown: (ref) => unknownSkill(ref).message,
    get skills() {
      return skills;
    },
    get pool() {
      return pool;
    },
    get active() {
      return [...active];
    },
  };
}

function fileRows({ files }: Skill): { path: string; bytes: number; executable: boolean }[] {
  return files.map(({ path, bytes, executable }) => ({ path, bytes, executable }));
}

function skillTool<T>(
  { id, forPrograms: description, input }: Pick<AgentTool<T>, 'id' | 'forPrograms' | 'input'>,
  execute: (input: T, context: ToolContext) => unknown,
): Tool {
  return {
    id,
    description,
    input,
    effect: 'read',
    execute: async (given: unknown, context) => await execute(given as T, context),
  };
}
