import { cutTo, firstSentence, oneLine } from '../../skills/text/text.ts';
import { commentLines } from './read/comment-lines.ts';
import { pythonStubs } from './python-stubs.ts';
import type { StubLanguage, StubTool } from './tool-places.ts';
import { typescriptStubs } from './typescript-stubs.ts';

/** The most tokens of the declarations of a job's tools in a prompt. */
export const DEFAULT_TOOL_BUDGET = 4_000;

const BYTES_PER_TOKEN = 4;
const SENTENCE_CHARACTERS = 200;

const WRITERS: Readonly<
  Record<StubLanguage, { write: (tools: readonly StubTool[], limit: number) => string | undefined; comment: string }>
> = {
  typescript: { write: typescriptStubs, comment: '//' },
  python: { write: pythonStubs, comment: '#' },
};

/** Declarations of tools for a prompt. */
export interface ToolStubs {
  /** Lines of the language, each with a newline; empty without tools. */
  text: string;
  /** Whether all declarations are included. */
  complete: boolean;
}

/**
 * Declares one tool in a language, from its schemas. The same tool gives the same bytes on every machine. Untrusted
 * descriptions, of the tool and in its schemas, always stay inside comments.
 *
 * @param tool with any schemas
 * @param language of the program
 * @returns a `.d.ts` or a `.pyi`
 */
export function toolStub(tool: StubTool, language: StubLanguage): string {
  return WRITERS[language].write([tool], Number.POSITIVE_INFINITY) ?? '';
}

/**
 * Declares tools for a prompt. If the declarations exceed the budget, a comment lists names and first sentences instead. If
 * that does not fit either, it lists the first tools and counts the others.
 *
 * @param tools in order
 * @param language of the program
 * @param options `budgetTokens`: a token is four bytes
 * @returns the text, and whether it is complete
 */
export function toolStubs(
  tools: readonly StubTool[],
  language: StubLanguage,
  { budgetTokens = DEFAULT_TOOL_BUDGET }: { budgetTokens?: number | undefined } = {},
): ToolStubs {
  if (tools.length === 0) return { text: '', complete: true };
  const limit = budgetTokens * BYTES_PER_TOKEN;
  const { write, comment } = WRITERS[language];
  const whole = write(tools, limit);
  if (whole !== undefined && Buffer.byteLength(whole) <= limit) return { text: whole, complete: true };
  return { text: briefStubs(tools, comment, limit), complete: false };
}

/** A line for each tool, as far as they fit. Tools after the limit are not read. */
function briefStubs(tools: readonly StubTool[], comment: string, limit: number): string {
  const more = (kept: number): string => `${comment} … and ${tools.length - kept} more\n`;
  let all = '';
  let bytes = 0;
  let fitting = more(0);
  for (const [at, { id, description }] of tools.entries()) {
    const line = `${comment} ${oneLine(id)}${briefOf(description)}\n`;
    bytes += Buffer.byteLength(line);
    if (bytes > limit) return fitting;
    all += line;
    if (bytes + Buffer.byteLength(more(at + 1)) <= limit) fitting = `${all}${more(at + 1)}`;
  }
  return all;
}

function briefOf(description: string): string {
  const brief = cutTo(firstSentence(commentLines(description).join(' ')), SENTENCE_CHARACTERS);
  return brief === '' ? '' : `: ${brief}`;
}
