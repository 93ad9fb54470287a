import type { LanguageDefinition } from '../../src/contracts/language.ts';
import { findFencedBlocks, type FencedBlock, withoutThinking } from '../../src/skills/text/markdown-fences.ts';

/** The program in an answer, or why there is none. `closed` is false when the closing fence is missing. */
export type ExtractedCode = { code: string; closed: boolean } | { fault: string };

/**
 * Takes the program out of an answer. Exactly one fenced block is taken, never two put together:
 *
 * 1. Blocks tagged with the language count; without one, blocks with its next best tags (JavaScript for TypeScript), then
 *    blocks without a tag.
 *    Blocks of other languages never count.
 * 2. Of several, the longest (blanks not counted) is the program: what stands beside it is an example or a fragment.
 *    Of equally long ones the last, since a correction follows what it corrects.
 *
 * An answer without a block is a fault even if it looks like code: what is prose and what is program would be a guess.
 *
 * @param answer text of the model
 * @param language what was asked for
 * @returns the code with a final newline, or the fault in words for the model
 */
export function extractCode(answer: string, { name, codeTags }: LanguageDefinition): ExtractedCode {
  const wanted = codeTags[0]?.[0] ?? name;
  const blocks = findFencedBlocks(withoutThinking(answer)).filter(({ code }) => code.trim() !== '');
  const candidates = [...codeTags, ['']]
    .map((tags) => blocks.filter(({ tag }) => tags.includes(tag)))
    .find((found) => found.length > 0);
  if (candidates !== undefined) {
    const { code, closed } = longest(candidates);
    return { code, closed };
  }
  if (blocks.length === 0)
    return { fault: `The answer holds no fenced code block. Put the whole program into one, marked ${wanted}.` };
  const others = [...new Set(blocks.map(({ tag }) => JSON.stringify(tag.slice(0, 30))))].slice(0, 5).join(', ');
  return { fault: `The answer holds no code block marked ${wanted}, only ${others}. The program must be ${wanted}.` };
}

function longest(blocks: FencedBlock[]): FencedBlock {
  const size = ({ code }: FencedBlock): number => code.replace(/\s+/g, '').length;
  return blocks.reduce((best, block) => (size(block) >= size(best) ? block : best));
}
