import { commentLines } from './read/comment-lines.ts';
import type { StubSchema } from './read/stub-type.ts';

/**
 * What the comment of a tool says: its description, and what its schemas say as wholes.
 *
 * @param description anybody may have written it
 * @param input what it takes
 * @param output what it returns
 * @returns lines of a comment
 */
export function toolNotes(description: string, input: StubSchema, output: StubSchema): string[] {
  return [...commentLines(description), ...headed('Input', input.notes), ...headed('Returns', output.notes)];
}

function headed(head: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => (at === 0 ? `${head}: ${line}` : line));
}
