import { hidesInName } from '../../../contracts/text/hidden-in-names.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** The most bytes that a key may have in S3. */
const KEY_BYTES = 1_024;
/** What a server or a client on the way may take for a dot, a slash, a backslash or an end. */
const ENCODED = /%(?:2e|2f|5c|00)/i;

/**
 * Says what is wrong with a key, or with the part of one that names a file; undefined where it names one place and no other, whoever reads
 * it. Nothing is ever made of one that is refused: a client that normalises takes `u1/../u2` for the key of another user.
 */
export function keyFault(key: string): string | undefined {
  if (key.endsWith('/')) return 'a slash at the end';
  if (ENCODED.test(key)) return 'a dot or a slash that is written with a percent sign';
  if (Buffer.byteLength(key) > KEY_BYTES) return `over ${KEY_BYTES} bytes`;
  if (hidesInName(key)) return 'a hidden character in the name';
  return relativePathFault(key);
}

/** A key that a caller names. @throws SkillcellError `store.key-invalid` */
export function checkedKey(key: string, action: string): string {
  const fault = keyFault(key);
  if (fault === undefined) return key;
  throw new SkillcellError('store.key-invalid', `Cannot ${action}: ${fault}, got ${quotedText(key)}.`);
}

/** A prefix, with the separator at its end without which `a` is also the beginning of `ab`; empty for a whole bucket. @throws SkillcellError `store.key-invalid` */
export function checkedPrefix(prefix: string): string {
  if (prefix === '') return '';
  return `${checkedKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix, 'open the bucket')}/`;
}

/** An id that stands as one name in a key, such as that of a user. @throws SkillcellError `store.key-invalid` */
export function checkedName(name: string, what: string): string {
  const fault = name.includes('/') ? 'a slash in the name' : keyFault(name);
  if (fault === undefined && name.normalize('NFC') === name && name.trim() === name) return name;
  const message = `Cannot open the backend: ${what} is one plain name, with ${fault ?? 'other characters than it seems'}`;
  throw new SkillcellError('store.key-invalid', `${message}, got ${quotedText(name)}.`);
}
