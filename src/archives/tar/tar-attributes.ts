/**
 * Keys without effect on the content or the path of a file. `SCHILY.realsize` and `GNU.sparse` are missing: with them, some programs unpack
 * other bytes than the archive has.
 */
const HARMLESS =
  /^(?:mtime|atime|ctime|uid|gid|uname|gname|comment|(?:SCHILY\.(?:xattr|acl|fflags|dev|ino|nlink)|LIBARCHIVE|RHT|APPLE|MSWINDOWS|NODETAR)(?:\..*)?)$/;
const RECORD = /^([1-9]\d{0,5}) /;

/** Further allowed keys in the attributes of one entry. */
const OF_ENTRY: ReadonlySet<string> = new Set(['path', 'linkpath', 'size']);

/**
 * Reads POSIX attributes: each record is its own length, a key and a value.
 *
 * @param isGlobal true if they apply to all following entries
 * @returns the values by key, or undefined if programs could read them differently
 */
export function readTarAttributes(bytes: Buffer, isGlobal: boolean): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const length = Number(RECORD.exec(bytes.toString('latin1', at, at + 8))?.[1]);
    const record = bytes.subarray(at, at + length);
    if (Number.isNaN(length) || record.length < length || record.at(-1) !== 0x0a) return undefined;
    const text = record.toString('utf8', record.indexOf(' ') + 1, length - 1);
    const sign = text.indexOf('=');
    const key = text.slice(0, sign);
    const isKnown = HARMLESS.test(key) || (!isGlobal && OF_ENTRY.has(key));
    // For some programs, an empty value revokes an earlier one.
    if (sign <= 0 || !isKnown || values.has(key) || (OF_ENTRY.has(key) && text.length === sign + 1)) return undefined;
    values.set(key, text.slice(sign + 1));
    at += length;
  }
  return values;
}
