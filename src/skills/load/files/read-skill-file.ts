import type { Skill, SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { decodeText } from '../../text/decode-text.ts';
import { readListedFile } from './skill-bytes.ts';
import { binaryKindOf } from './binary-kind.ts';

/** The largest file that is read, in bytes. */
export const READ_LIMIT: number = 10 * 1024 * 1024;
/** The most lines that one call returns. */
export const READ_LINES = 2_000;

/** Part and form of a file to read. */
export interface ReadRange {
  /** Default: `text`. */
  as?: 'text' | 'bytes' | undefined;
  /** Lines to leave out at the beginning of a text; default 0. */
  offset?: number | undefined;
  /** Lines of a text; default and most: 2,000. */
  limit?: number | undefined;
}

/** A file of a skill. */
export type SkillFileContent = {
  /** Full id of the skill. */
  id: string;
  path: string;
  /** Size of the whole file. */
  bytes: number;
  executable: boolean;
} & (
  | { as: 'bytes'; content: Uint8Array }
  | {
      as: 'text';
      text: string;
      offset: number;
      /** Lines of the whole file. */
      lines: number;
      /** Whether lines follow that aren't in `text`. */
      more: boolean;
    }
);

/**
 * Reads a file of a skill by its manifest. A path that is not listed is refused, wherever it leads. The bytes are
 * exactly the loaded ones; otherwise the call throws.
 *
 * @param skill the skill
 * @param path path of the manifest
 * @param range part and form to read
 * @param tree the skill's bytes where they arrived; without it they are read from disk
 * @returns text or bytes
 * @throws SkillcellError `file.unreadable` when there is no such file, it is too large, or is binary and asked as text
 * @throws SkillcellError `skills.digest-mismatch` when the file changed since it was loaded
 * @throws SkillcellError `usage.invalid` for a bad range
 */
export function readSkillFile(
  skill: Skill,
  path: string,
  range: ReadRange,
  tree: SkillTree | undefined,
): SkillFileContent {
  const offset = wholeNumber('offset', range.offset ?? 0, 0, Number.MAX_SAFE_INTEGER);
  const limit = wholeNumber('limit', range.limit ?? READ_LINES, 1, READ_LINES);
  const content = bytesOf(skill, path, tree);
  const { bytes, executable } = content;
  const whole = { id: skill.id, path, bytes: bytes.length, executable };
  if (range.as === 'bytes') return { ...whole, as: 'bytes', content: bytes };
  const decoded = decodeText(bytes, READ_LIMIT);
  if ('fault' in decoded) {
    const reason = `it is a binary file (${binaryKindOf(path)})`;
    throw new SkillcellError(
      'file.unreadable',
      `Cannot read ${JSON.stringify(path)} of ${skill.id} as text: ${reason}, got ${bytes.length} bytes.`,
      { hint: 'Ask for its bytes, or refer to the file by its path.' },
    );
  }
  const lines = decoded.text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const part = lines.slice(offset, offset + limit);
  const more = offset + limit < lines.length;
  const cut = offset > 0 || more;
  const text = cut ? part.map((line) => `${line}\n`).join('') : decoded.text;
  return { ...whole, as: 'text', text, offset, lines: lines.length, more };
}

function bytesOf(skill: Skill, path: string, tree: SkillTree | undefined): { bytes: Uint8Array; executable: boolean } {
  const file = skill.files.find((listed) => listed.path === path);
  const shown = JSON.stringify(path);
  if (file === undefined) {
    throw new SkillcellError(
      'file.unreadable',
      `Cannot read a file of ${skill.id}: it lists no such path, got ${shown}.`,
    );
  }
  if (file.bytes > READ_LIMIT) {
    const message = `Cannot read ${shown} of ${skill.id}: the limit is ${READ_LIMIT} bytes, got ${file.bytes}.`;
    throw new SkillcellError('file.unreadable', message);
  }
  const arrived = tree?.get(path);
  if (arrived !== undefined) return arrived;
  const changed = `Cannot read ${shown} of ${skill.id}: the file changed since it was loaded`;
  let read: ReturnType<typeof readListedFile>;
  try {
    read = readListedFile(skill, file);
  } catch (cause) {
    throw new SkillcellError('skills.digest-mismatch', `${changed}, got ${(cause as Error).message}.`, { cause });
  }
  if (read.digest !== file.digest || read.executable !== file.executable) {
    throw new SkillcellError('skills.digest-mismatch', `${changed}, got ${read.digest}.`);
  }
  return read;
}

function wholeNumber(name: string, value: number, minimum: number, maximum: number): number {
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value;
  const message = `Cannot read a file: ${name} is a whole number from ${minimum} to ${maximum}, got ${String(value)}.`;
  throw new SkillcellError('usage.invalid', message, { hint: 'Ask for the next lines by a larger offset.' });
}
