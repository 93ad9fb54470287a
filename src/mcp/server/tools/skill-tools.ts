import * as z from 'zod/mini';
import { ToolError } from '../../../tools/define/tool-errors.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { createDisclosureTools } from '../../../tools/agent/disclosure-tools.ts';
import {
  type AgentTool,
  LIST_SKILLS,
  LOAD_SKILL,
  READ_SKILL_FILE,
  SEARCH_SKILLS,
} from '../../../tools/agent/skill-tools-table.ts';
import { shownSkillId } from '../../../tools/agent/shown-skill-id.ts';
import { beginningOf } from './linked-content.ts';
import { skillFileUri } from '../skill-catalog.ts';
import type { ServerState } from './server-state.ts';
import { type ServerTool, serverTool, type ToolAnswer } from './server-tool.ts';

/** Characters of one answer; the resource of a file has all of it. */
const MOST_CHARACTERS: number = 256 * 1024;

const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const skillRow = z.strictObject({ id: z.string(), name: z.string(), brief: z.string() });
const foundRow = z.strictObject({
  id: z.string(),
  name: z.string(),
  brief: z.string(),
  score: z.number(),
  snippet: z.string(),
});
const fileRow = z.strictObject({ path: z.string(), bytes: z.number(), executable: z.boolean() });

/** `list_skills`: lists the skills that the server's consumer may load. */
export function listSkillsTool(state: ServerState): ServerTool {
  return serverTool({
    ...declared(LIST_SKILLS),
    output: z.strictObject({ skills: z.array(skillRow) }),
    annotations: READING,
    async run() {
      const rows = (await disclosed(state, LIST_SKILLS.id, {})) as z.output<typeof skillRow>[];
      return { value: { skills: rows.map(({ id, name, brief }) => ({ id, name, brief })) } };
    },
  });
}

/** `search_skills`: finds the skills for a task by its words. */
export function searchSkillsTool(state: ServerState): ServerTool {
  return serverTool({
    ...declared(SEARCH_SKILLS),
    output: z.strictObject({ skills: z.array(foundRow) }),
    annotations: READING,
    async run(input, { signal }) {
      const rows = (await disclosed(state, SEARCH_SKILLS.id, input, signal)) as z.output<typeof foundRow>[];
      const skills = rows.map(({ id, name, brief, score, snippet }) => ({ id, name, brief, score, snippet }));
      return { value: { skills } };
    },
  });
}

/** `load_skill`: the instructions of a skill. */
export function loadSkillTool(state: ServerState): ServerTool {
  return serverTool({
    ...declared(LOAD_SKILL),
    output: z.looseObject({ id: z.string(), instructions: z.string(), files: z.array(fileRow) }),
    annotations: READING,
    async run(input) {
      const loaded = (await disclosed(state, LOAD_SKILL.id, input)) as Record<string, unknown>;
      const { status: _loaded, id, instructions, ...rest } = loaded;
      return whole({ id, instructions, ...rest }, 'instructions', String(id), 'SKILL.md');
    },
  });
}

/** `read_skill_file`: a text among the files of a skill. */
export function readSkillFileTool(state: ServerState): ServerTool {
  return serverTool({
    ...declared(READ_SKILL_FILE),
    output: z.looseObject({ path: z.string(), bytes: z.number(), text: z.string(), lines: z.number() }),
    annotations: READING,
    async run(input) {
      const read = (await disclosed(state, READ_SKILL_FILE.id, input)) as Record<string, unknown>;
      const { skills: given, consumer } = state.settings;
      const skills = await given.present({ consumer, refs: [] });
      const id = shownSkillId(input.skill, skills, { consumer });
      return whole({ skill: id, ...read }, 'text', id, input.path);
    },
  });
}

/** The declaration of a tool, as MCP has it. */
function declared<Input>({
  name,
  title,
  forModels: description,
  input,
}: AgentTool<Input>): Pick<ServerTool<Input>, 'name' | 'title' | 'description' | 'input'> {
  return { name, title, description, input };
}

/** Uses the disclosure tools of jobs: the policy of the server's consumer applies to each reference, and nothing is kept between calls. */
async function disclosed(
  { settings }: ServerState,
  id: string,
  input: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const { consumer } = settings;
  const { skill } = input as { skill?: string };
  const refs = skill === undefined ? [] : [skill];
  const skills = await settings.skills.present({ consumer, refs, signal });
  const tool = createDisclosureTools({ skills, consumer }).tools.find((each) => each.id === id);
  try {
    return await tool?.execute(input, { signal } as never);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw SkillcellError.isInstance(error.cause)
      ? error.cause
      : new SkillcellError('skills.reference-unknown', error.message, { cause: error });
  }
}

/** Marks a text that is too long for an answer as truncated, and links to all of it. */
function whole(value: Record<string, unknown>, field: string, skill: string, path: string): ToolAnswer {
  const text = String(value[field]);
  if (text.length <= MOST_CHARACTERS) return { value };
  const uri = skillFileUri(skill, path);
  return {
    value: { ...value, [field]: beginningOf(text, MOST_CHARACTERS), truncated: true, uri },
    content: [{ type: 'resource_link', name: path, uri }],
  };
}
