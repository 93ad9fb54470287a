import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { READ_LIMIT } from '../skills/load/files/read-skill-file.ts';
import { decodeText } from '../skills/text/decode-text.ts';
import type { MountedFiles } from './mounted-files.ts';

/** A change of a text file. */
export interface FileEdit {
  find: string;
  replace: string;
  /** Whether each occurrence is replaced if there are several. */
  all?: boolean | undefined;
  /** The path of the caller, for messages. */
  path: string;
  /** Path below the mount. */
  below: string;
  signal?: AbortSignal | undefined;
}

/** Attempts while another writer changes the file. */
const TRIES = 8;

/** Replaces a text in the current version of a file. @returns the number of replacements */
export async function editFile(
  { read, write }: { read: MountedFiles['read']; write: NonNullable<MountedFiles['write']> },
  { find, replace, all = false, path, below, signal }: FileEdit,
): Promise<number> {
  const refused = (reason: string): SkillcellError =>
    new SkillcellError('file.unreadable', `Cannot edit ${quotedText(path)}: ${reason}.`);
  if (find === '') throw refused('the text to find is empty');
  for (let tries = 0; tries < TRIES; tries += 1) {
    const file = await read(below, signal);
    if (file?.etag === undefined) throw refused('there is no such file');
    const decoded = decodeText(file.content, READ_LIMIT);
    if (!('text' in decoded)) throw refused('it is a binary file');
    // The text with its own line ends, so that the rest of the file stays unchanged.
    const parts = Buffer.from(file.content).toString('utf8').split(find);
    const count = parts.length - 1;
    if (count === 0) throw refused(`it does not hold the text ${quotedText(find)}`);
    if (count > 1 && !all) throw refused(`it holds the text ${count} times; ask for all, or for a longer text`);
    const content = Buffer.from(parts.join(replace));
    if (content.length > READ_LIMIT) throw refused(`the limit is ${READ_LIMIT} bytes, got ${content.length}`);
    if ((await write(below, content, { etag: file.etag }, signal)) !== undefined) return count;
  }
  throw new SkillcellError(
    'store.conflict',
    `Cannot edit ${quotedText(path)}: another writer changed it during each of ${TRIES} attempts.`,
  );
}
