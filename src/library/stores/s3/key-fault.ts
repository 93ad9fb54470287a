import { hidesInName } from '../../../contracts/text/hidden-in-names.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** Limit of a key in S3, in bytes. */
const KEY_BYTES = 1_024;
/** Sequences that a server or a client on the way may decode to a dot, a slash, a backslash or a terminator. */
const ENCODED = /%(?:2e|2f|5c|00)/i;

/**
 * The fault of a key, or of the part of a key that names a file; undefined where every reader takes it for the same place. A refused key is never
 * repaired: a client that normalises takes `u1/../u2` for the key of another user.
 */
export function keyFault(key: string): string | undefined {
  if (key.endsWith('/')) return 'a slash at the end';
  if (ENCODED.test(key)) return 'a dot or a slash that is written with a percent sign';
  if (Buffer.byteLength(key) > KEY_BYTES) return `over ${KEY_BYTES} bytes`;
  if (hidesInName(key)) return 'a hidden character in the name';
  return relativePathFault(key);
}

/** Checks a key from a caller. @throws SkillcellError `store.key-invalid` */
export function checkedKey(key: string, action: string): string {
  const fault = keyFault(key);
  if (fault === undefined) return key;
  throw new SkillcellError('store.key-invalid', `Cannot ${action}: ${fault}, got ${quotedText(key)}.`);
}

/**
 * A prefix with a separator at its end, as `a` is also the beginning of `ab`; empty for a whole bucket. @throws SkillcellError `store.key-invalid`
 */
export function checkedPrefix(prefix: string): string {
  if (prefix === '') return '';
  return `${checkedKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix, 'open the bucket')}/`;
}

/** Checks an id that is one name in a key, such as that of a user. @throws SkillcellError `store.key-invalid` */
export function checkedName(name: string, noun: string): string {
  const fault = name.includes('/') ? 'a slash in the name' : keyFault(name);
  if (fault === undefined && name.normalize('NFC') === name && name.trim() === name) return name;
  const message = `Cannot open the backend: ${noun} must be one plain name: ${fault ?? 'blanks at an end, or not in the Unicode form NFC'}`;
  throw new SkillcellError('store.key-invalid', `${message}, got ${quotedText(name)}.`);
}
