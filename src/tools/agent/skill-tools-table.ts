import * as z from 'zod/mini';
import { SCRIPT_ARGUMENTS } from '../../contracts/jobs/limits.ts';
import { READ_LINES } from '../../skills/load/files/read-skill-file.ts';

/** The most characters of a searched text. */
export const SEARCHED_CHARACTERS = 100_000;
/** The most skills in one search result. */
export const SEARCHED_SKILLS = 50;

/** Declaration of a tool for agents, for each kind of caller. */
export interface AgentTool<Input> {
  /** Id for programs in a job. */
  id: string;
  /** Name for models: in MCP and in the AI SDK. */
  name: string;
  title: string;
  /** Description for the models that write programs. */
  forPrograms: string;
  /** Description for models that call the tool themselves. */
  forModels: string;
  input: z.ZodMiniType<Input>;
}

/** A reference to a skill in the input of a tool. */
const skillField: z.ZodMiniString = z
  .string()
  .check(z.minLength(1), z.maxLength(300), z.describe('Id of the skill, as list_skills gives it.'));
/** A path below the folder of a skill. */
const pathField = (description: string): z.ZodMiniString =>
  z.string().check(z.minLength(1), z.maxLength(4_096), z.describe(description));
/** Lines of a file. */
const rangeFields = {
  offset: z.optional(z.number().check(z.int(), z.minimum(0), z.describe('The first line, from 0.'))),
  limit: z.optional(
    z.number().check(z.int(), z.minimum(1), z.maximum(READ_LINES), z.describe(`Lines, at most ${READ_LINES}.`)),
  ),
};
const filePath = pathField("Path below the skill's folder, as load_skill lists it.");

/** Lists the skills. */
export const LIST_SKILLS: AgentTool<Record<string, never>> = {
  id: 'skills.list',
  name: 'list_skills',
  title: 'List skills',
  forPrograms: 'Lists the skills that can be loaded here, a line each.',
  forModels:
    'Lists the skills: instructions for certain tasks, with files and scripts. Load a skill before you do its task.',
  input: z.strictObject({}),
};

/** Finds skills by words. */
export const SEARCH_SKILLS: AgentTool<{ text: string; max?: number | undefined }> = {
  id: 'skills.search',
  name: 'search_skills',
  title: 'Search skills',
  forPrograms: 'Finds skills by the words of a task, the best first.',
  forModels: 'Finds skills by the words of a task, the best first. With many skills, this is shorter than the list.',
  input: z.strictObject({
    text: z.string().check(z.maxLength(SEARCHED_CHARACTERS), z.describe('The task in plain words.')),
    max: z.optional(
      z
        .number()
        .check(
          z.int(),
          z.minimum(1),
          z.maximum(SEARCHED_SKILLS),
          z.describe(`Skills, at most ${SEARCHED_SKILLS}; 10 unless named.`),
        ),
    ),
  }),
};

/** Gives the instructions of a skill. */
export const LOAD_SKILL: AgentTool<{ skill: string }> = {
  id: 'skills.load',
  name: 'load_skill',
  title: 'Load a skill',
  forPrograms: 'Gives the instructions of a skill, its tools, and its files.',
  forModels: 'Gives the instructions of a skill, its tools, and its files.',
  input: z.strictObject({ skill: skillField }),
};

/** Gives the instructions of a skill as a text. For programs of jobs that choose among many skills while they run. */
export const LOAD_SKILL_TEXT: Pick<AgentTool<{ skill_name: string }>, 'id' | 'forPrograms' | 'input'> = {
  id: 'load_skill',
  forPrograms: 'Gives the instructions of a skill as a text; a second call says that the skill is already active.',
  input: z.strictObject({
    skill_name: z.string().check(z.minLength(1), z.maxLength(300), z.describe('Name or id of the skill.')),
  }),
};

/** Reads a text file of a skill. Programs may also ask for bytes, see {@link READ_BYTES}. */
export const READ_SKILL_FILE: AgentTool<{
  skill: string;
  path: string;
  offset?: number | undefined;
  limit?: number | undefined;
}> = {
  id: 'skills.read',
  name: 'read_skill_file',
  title: 'Read a file of a skill',
  forPrograms: 'Reads a file of a skill, by lines, or as bytes.',
  forModels: 'Reads a text file of a skill, by lines.',
  input: z.strictObject({ skill: skillField, path: filePath, ...rangeFields }),
};

/** Input of `skills.read` for programs. */
export const READ_BYTES: z.ZodMiniType<{
  skill: string;
  path: string;
  as?: 'text' | 'bytes' | undefined;
  offset?: number | undefined;
  limit?: number | undefined;
}> = z
  .strictObject({ skill: skillField, path: filePath, as: z.optional(z.enum(['text', 'bytes'])), ...rangeFields })
  .check(
    z.refine(
      ({ as, offset, limit }) => as !== 'bytes' || (offset === undefined && limit === undefined),
      'offset and limit count lines, which bytes have not',
    ),
  );

/** Fields of {@link RUN_SKILL_SCRIPT}. */
export const SCRIPT_FIELDS: {
  skill: z.ZodMiniString;
  script: z.ZodMiniString;
  args: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString>>;
} = {
  skill: skillField,
  script: pathField("Path below the skill's folder, such as scripts/check.py."),
  args: z.optional(
    z.array(z.string()).check(z.maxLength(SCRIPT_ARGUMENTS.count), z.describe('Arguments of the command line.')),
  ),
};

/** Runs a script of a skill. */
export const RUN_SKILL_SCRIPT: AgentTool<{ skill: string; script: string; args?: string[] | undefined }> = {
  id: 'skills.run_script',
  name: 'run_skill_script',
  title: 'Run a script of a skill',
  forPrograms:
    "Runs a script of one of the job's skills in a sandbox of its own, with the skill's folder as working folder, and gives { outcome, exitCode, stdout, stderr, value }. `script` is a path below the skill's folder, such as scripts/check.py.",
  forModels:
    "Runs a script of a skill in an isolated sandbox, with the skill's folder as working folder, for at most 60 s.",
  input: z.strictObject(SCRIPT_FIELDS),
};
