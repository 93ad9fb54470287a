import type { Tool } from 'ai';
import * as z from 'zod/mini';
import { sdkTool } from '../ai/sdk-tool.ts';
import type { ServiceClient } from './service-client.ts';

/** Options of {@link loadSkillTool}. */
export interface LoadSkillToolOptions {
  /** A team, by id, name or `namespace/name`: only its skills are given. @default own skills, then public ones */
  team?: number | string;
}

const inputSchema = z.strictObject({
  skill_name: z.string().check(z.minLength(1), z.maxLength(100), z.describe('The name of the skill.')),
});

/**
 * Makes the tool `load_skill` of the AI SDK, by which a model reads the instructions of a skill. A tool is for one conversation: a second
 * call for a skill says that it is already active.
 *
 * @example
 * ```ts
 * import { connectService, loadSkillTool } from 'skillcell/client';
 *
 * await using service = connectService({ url: 'http://127.0.0.1:7420', token: 'skc_example' });
 * const tools = { load_skill: loadSkillTool(service, { team: 7 }) };
 * console.log(Object.keys(tools), typeof tools.load_skill.execute);
 * // prints: [ 'load_skill' ] function
 * ```
 */
export function loadSkillTool(
  client: Pick<ServiceClient, 'invokeSkill'>,
  { team }: LoadSkillToolOptions = {},
): Tool<{ skill_name: string }, string> {
  const active = new Set<string>();
  return sdkTool({
    name: 'load_skill',
    description: 'Loads the instructions of a skill. Load a skill before you do its task.',
    schema: inputSchema,
    async execute({ skill_name: name }, { abortSignal: signal }) {
      if (active.has(name)) return `The skill "${name}" is already active.`;
      const prompt = await client.invokeSkill(name, {
        ...(team === undefined ? {} : { team }),
        ...(signal === undefined ? {} : { signal }),
      });
      active.add(name);
      return prompt;
    },
  });
}
