import { findFencedBlocks, withoutThinking } from '../../src/skills/text/words/markdown-fences.ts';

/** Tag of the block by which a model asks for more instead of giving a program. */
export const REQUEST_TAG = 'skillcell-request';

/** What an answer asks for, as it stands in its block; undefined in an answer that asks for nothing. */
export function readRequest(answer: string): string | undefined {
  const blocks = findFencedBlocks(withoutThinking(answer));
  const [first, second] = blocks.filter(({ tag }) => tag === REQUEST_TAG);
  // Beside a program it would be a guess what is meant; the program is taken for it.
  return first !== undefined && second === undefined && blocks.length === 1 ? first.code : undefined;
}
