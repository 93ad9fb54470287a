import type { Tool } from 'ai';
import * as z from 'zod/mini';
import { sdkTool } from '../ai/sdk-tool.ts';
import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { S3Backend } from './s3-backend.ts';
import type { SkillsState } from './skills-middleware.ts';

/** The answer to a model that loads a skill: the instructions come with the next request. */
export interface LoadedSkillNote {
  loaded: string;
}

/**
 * A tool of the AI SDK by which a model loads a skill: from the next request on, `skillsMiddleware` shows that skill.
 *
 * @param state the same state that the middleware gets
 *
 * @example
 * ```ts
 * import { loadSkillTool, type SkillsState } from 'skillcell/backend';
 *
 * // Stands in for a backend of a bucket.
 * const backend = { offersSkill: async () => true, loadSkillContent: async () => 'Text.' };
 * const state: SkillsState = {};
 * const tool = loadSkillTool(backend, state);
 * console.log(await tool.execute?.({ skill_path: 'deeds/sale' }, { toolCallId: '1', messages: [], context: {} }), state);
 * // prints: { loaded: 'deeds/sale' } { currentSkill: 'deeds/sale' }
 * ```
 */
export function loadSkillTool(
  backend: Pick<S3Backend, 'loadSkillContent' | 'offersSkill'>,
  state: SkillsState,
): Tool<{ skill_path: string }, LoadedSkillNote> {
  return sdkTool({
    name: 'load_skill',
    description: 'Loads a skill: its instructions are there from the next step on. Load one before you use its files.',
    schema: z.strictObject({ skill_path: z.string().check(z.minLength(1), z.maxLength(1_024)) }),
    fields: { skill_path: 'Path of the skill, category/skill, as the list of skills has it.' },
    async execute({ skill_path }, { abortSignal }) {
      const call = abortSignal === undefined ? {} : { signal: abortSignal };
      const isThere =
        (await backend.offersSkill(skill_path, call)) &&
        (await backend.loadSkillContent(skill_path, call)) !== undefined;
      if (!isThere) {
        const message = `Cannot load the skill: there is no skill at this path, got ${quotedText(skill_path)}.`;
        throw new SkillcellError('skills.reference-unknown', message, { hint: 'Use a path of the list of skills.' });
      }
      state.currentSkill = skill_path;
      return { loaded: skill_path };
    },
  });
}
