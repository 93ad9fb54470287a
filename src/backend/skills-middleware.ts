import type { LanguageModelMiddleware } from 'ai';
import { removeHidden } from '../skills/text/hidden-characters.ts';
import type { S3Backend } from './s3-backend.ts';

/** The part of a conversation that selects its skill. */
export interface SkillsState {
  /** Path of the loaded skill, `category/skill`. */
  currentSkill?: string | undefined;
  /** Category of the skills that are shown while none is loaded. @default all */
  category?: string | undefined;
}

/**
 * Puts skills into the instructions of a model, at each request anew: the loaded skill, between lines of `---`, or else the frontmatters
 * of the available skills.
 *
 * @param state is read at each request; `loadSkillTool` writes to it
 *
 * @example
 * ```ts
 * import { skillsMiddleware } from 'skillcell/backend';
 * import { generateText, wrapLanguageModel } from 'ai';
 * import { MockLanguageModelV4 } from 'ai/test';
 *
 * // Stand in for a model, and for a backend of a bucket.
 * const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
 * const finishReason = { unified: 'stop', raw: 'stop' } as const;
 * const asked = new MockLanguageModelV4({ doGenerate: { content: [{ type: 'text', text: 'Done.' }], finishReason, usage, warnings: [] } });
 * const backend = { loadSkillContent: async () => 'How to write a deed.', loadSkillsFrontmatter: async () => '' };
 * const middleware = skillsMiddleware(backend, { currentSkill: 'deeds/sale' });
 * await generateText({ model: wrapLanguageModel({ model: asked, middleware }), prompt: 'A deed.' });
 * console.log(asked.doGenerateCalls[0]?.prompt[0]);
 * // prints: { role: 'system', content: '---\nHow to write a deed.\n---' }
 * ```
 */
export function skillsMiddleware(
  backend: Pick<S3Backend, 'loadSkillContent' | 'loadSkillsFrontmatter'>,
  state: SkillsState,
): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    async transformParams({ params }) {
      const call = params.abortSignal === undefined ? {} : { signal: params.abortSignal };
      const text = removeHidden(await skillsText(backend, state, call));
      if (text === '') return params;
      const [first, ...rest] = params.prompt;
      if (first?.role !== 'system') return { ...params, prompt: [{ role: 'system', content: text }, ...params.prompt] };
      return { ...params, prompt: [{ ...first, content: `${first.content}\n\n${text}` }, ...rest] };
    },
  };
}

async function skillsText(
  backend: Pick<S3Backend, 'loadSkillContent' | 'loadSkillsFrontmatter'>,
  { currentSkill, category }: SkillsState,
  call: { signal?: AbortSignal },
): Promise<string> {
  const content = currentSkill === undefined ? undefined : await backend.loadSkillContent(currentSkill, call);
  if (content !== undefined) return `---\n${content}\n---`;
  return backend.loadSkillsFrontmatter(category, call);
}
