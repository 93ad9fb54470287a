import * as z from 'zod/mini';
import { measureJson } from '../../tools/calls/measure-json.ts';
import { outsideId } from '../../tools/define/outside-id.ts';
import { OUTSIDE_DESCRIPTION, plainLine, plainTexts } from '../../tools/define/outside-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Description of a tool by the code of a skill, cleaned for a prompt. */
export interface DescribedTool {
  /** Name in the skill's own code. */
  name: string;
  /** The name as an id. */
  id: string;
  description: string;
  /** A JSON schema. */
  input?: Record<string, unknown>;
}

/** Maximum number of tools of one skill. */
export const MAX_TOOLS = 128;
const MAX_SCHEMA = { maxBytes: 64 * 1024, maxDepth: 32 };

const rowsSchema = z
  .array(
    z.strictObject({
      name: z.string().check(z.minLength(1), z.maxLength(200)),
      description: z.string(),
      input: z.optional(z.unknown()),
    }),
  )
  .check(z.maxLength(MAX_TOOLS));

/**
 * Checks the descriptions that the code of a skill gives of its tools. They are hostile, and part of them goes into prompts.
 *
 * @throws SkillcellError `skill-code.load-failed` for a malformed description, `skill-code.name-conflict` for two tools of the same name
 */
export function readDescriptions(skill: string, given: unknown): DescribedTool[] {
  const fail = (reason: string): never => {
    throw new SkillcellError('skill-code.load-failed', `Cannot load the code of ${skill}: ${reason}.`);
  };
  const parsed = z.safeParse(rowsSchema, given);
  if (!parsed.success) return fail(`its tools are not a list of at most ${MAX_TOOLS} names, descriptions and schemas`);
  const ids = new Set<string>();
  return parsed.data.map(({ name, description, input }): DescribedTool => {
    const id = outsideId(name);
    const shown = plainLine(name);
    const measured = measureJson(input ?? null, MAX_SCHEMA);
    if (typeof (input ?? {}) !== 'object' || Array.isArray(input))
      return fail(`the schema of its tool ${shown} is no map`);
    if ('fault' in measured) return fail(`the schema of its tool ${shown} is not acceptable: ${measured.fault}`);
    if (ids.has(id)) {
      const message = `Cannot load the code of ${skill}: it has two tools of the same name, got ${id}.`;
      throw new SkillcellError('skill-code.name-conflict', message);
    }
    ids.add(id);
    return {
      name,
      id,
      description: plainLine(description).slice(0, OUTSIDE_DESCRIPTION),
      ...((input ?? null) === null ? {} : { input: plainTexts(input) as Record<string, unknown> }),
    };
  });
}
