import { commentLines } from './read/comment-lines.ts';
import type { StubSchema } from './read/stub-type.ts';

/**
 * Writes the comment of a tool: its description, and the notes of its whole schemas.
 *
 * @param description untrusted text
 * @param input its input
 * @param output its result
 * @returns lines of a comment
 */
export function toolNotes(description: string, input: StubSchema, output: StubSchema): string[] {
  return [...commentLines(description), ...headed('Input', input.notes), ...headed('Returns', output.notes)];
}

function headed(head: string, lines: readonly string[]): string[] {
  return lines.map((line, at) => (at === 0 ? `${head}: ${line}` : line));
}
