import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { quotedText } from '../contracts/text/quoted-text.ts';
import { loadRe2 } from '../skills/text/lazy-modules.ts';
import { decodeText } from '../skills/text/decode-text.ts';
import { READ_LIMIT } from '../skills/load/files/read-skill-file.ts';
import { cutTo } from '../skills/text/text.ts';
import type { GrepResult } from './s3-backend.ts';

/** The text and the files of a search. */
export interface GrepOptions {
  text: string;
  /** Whether the text is a pattern. */
  regex: boolean;
  /** Whole paths, in the order in which they are searched. */
  paths: readonly string[];
  read(path: string): Promise<Uint8Array | undefined>;
}

const LIMITS = { matches: 1_000, bytes: 64 * 1024 * 1024, pattern: 512, lineCharacters: 500 } as const;

/** Searches files line by line, and lists the files that were not searched. */
export async function grepFiles({ text, regex, paths, read }: GrepOptions): Promise<GrepResult> {
  const isMatch = matcher(text, regex);
  const result: GrepResult = { matches: [], skipped: [], more: false };
  let left: number = LIMITS.bytes;
  for (const path of paths) {
    const reason = left <= 0 ? `more than ${LIMITS.bytes} bytes were searched before it` : await search(path);
    if (reason !== undefined) result.skipped.push({ path, reason });
    if (result.more) break;
  }
  return result;

  async function search(path: string): Promise<string | undefined> {
    let content: Uint8Array | undefined;
    try {
      content = await read(path);
    } catch (error) {
      // A file that is too large does not stop the search of the others.
      if (SkillcellError.isInstance(error) && error.code === 'file.unreadable') return 'it is too large';
      throw error;
    }
    if (content === undefined) return 'it is not there any more';
    left -= content.length;
    const decoded = decodeText(content, READ_LIMIT);
    if (!('text' in decoded)) return 'it is a binary file';
    for (const [index, line] of decoded.text.split('\n').entries()) {
      if (!isMatch(line)) continue;
      if (result.matches.length === LIMITS.matches) {
        result.more = true;
        return undefined;
      }
      result.matches.push({ path, line: index + 1, text: cutTo(line, LIMITS.lineCharacters) });
    }
    return undefined;
  }
}

function matcher(text: string, regex: boolean): (line: string) => boolean {
  if (text === '' || text.length > LIMITS.pattern) {
    const message = `Cannot search: the text has 1 to ${LIMITS.pattern} characters, got ${text.length}.`;
    throw new SkillcellError('usage.invalid', message);
  }
  if (!regex) return (line) => line.includes(text);
  const { RE2JS } = loadRe2();
  try {
    const pattern = RE2JS.compile(text);
    return (line) => pattern.matcher(line).find();
  } catch (cause) {
    const message = `Cannot search: the pattern is not one of RE2, got ${quotedText(text)}.`;
    throw new SkillcellError('usage.invalid', message, { cause });
  }
}
