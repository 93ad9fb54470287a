import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { type JsonCaps, JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Parses the JSON of a lock file. Its text is never repeated in messages, as the path may lead to a secret file.
 *
 * @param action the action that fails without it, for messages
 * @throws SkillcellError `lock.invalid`
 */
export function parseLockJson(bytes: Uint8Array, caps: JsonCaps, action: string): unknown {
  try {
    const value = parseBoundedJson(bytes, caps);
    if (hasRepeatedKey(bytes, value)) throw new JsonRefused('a key that is there twice');
    return value;
  } catch (cause) {
    if (!(cause instanceof JsonRefused)) throw cause;
    // Node quotes the text that it has read.
    const got = cause.message.includes('"') ? 'something else' : cause.message;
    throw new SkillcellError('lock.invalid', `Cannot ${action}: it must hold JSON, got ${got}.`);
  }
}

/**
 * Whether an object in a JSON text has a repeated key. Parsers silently take the last value, while people see the first.
 *
 * @param bytes a text that was parsed
 * @param value its parsed value
 */
function hasRepeatedKey(bytes: Uint8Array, value: unknown): boolean {
  return keysWritten(bytes) !== keysIn(value);
}

/** Counts strings before a colon. */
function keysWritten(bytes: Uint8Array): number {
  let keys = 0;
  for (let index = bytes.indexOf(QUOTE); index >= 0; index = bytes.indexOf(QUOTE, index)) {
    for (index += 1; bytes[index] !== QUOTE; index += 1) if (bytes[index] === BACKSLASH) index += 1;
    index += 1;
    while (BLANKS.has(bytes[index])) index += 1;
    if (bytes[index] === COLON) keys += 1;
  }
  return keys;
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + keysIn(member), own);
}
