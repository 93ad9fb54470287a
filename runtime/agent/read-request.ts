import { findFencedBlocks, withoutThinking } from '../../src/skills/text/words/markdown-fences.ts';

/** Tag of the block by which a model asks for more instead of giving a program. */
export const REQUEST_TAG = 'skillcell-request';

/** The body of the request block of an answer; undefined if the answer requests nothing. */
export function readRequest(answer: string): string | undefined {
  const blocks = findFencedBlocks(withoutThinking(answer));
  const [first, second] = blocks.filter(({ tag }) => tag === REQUEST_TAG);
  // An answer with a request and a program is ambiguous; it counts as a program.
  return first !== undefined && second === undefined && blocks.length === 1 ? first.code : undefined;
}
