/**
 * Keys that say nothing of what a file holds or where it lies. `SCHILY.realsize` and `GNU.sparse` are not among them: with those, some programs
 * unpack other bytes than the archive has.
 */
const HARMLESS =
  /^(?:mtime|atime|ctime|uid|gid|uname|gname|comment|(?:SCHILY\.(?:xattr|acl|fflags|dev|ino|nlink)|LIBARCHIVE|RHT|APPLE|MSWINDOWS|NODETAR)(?:\..*)?)$/;
const RECORD = /^([1-9]\d{0,5}) /;

/** What the attributes in front of an entry may say, besides what is harmless. */
const OF_ENTRY: ReadonlySet<string> = new Set(['path', 'linkpath', 'size']);

/**
 * Reads attributes in the form of POSIX: each record is its own length, a key and a value.
 *
 * @param isGlobal whether they are said of all entries that follow
 * @returns the values by key, or undefined where programs could read them in different ways
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
    // An empty value takes back what was said before, to some programs.
    if (sign <= 0 || !isKnown || values.has(key) || (OF_ENTRY.has(key) && text.length === sign + 1)) return undefined;
    values.set(key, text.slice(sign + 1));
    at += length;
  }
  return values;
}
