import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { type JsonCaps, JsonRefused, parseBoundedJson } from '../../protocol/bounded-json.ts';
import { hasRepeatedKey } from './repeated-key.ts';

/**
 * Parses JSON of a file of locked skills. What stands in it is not repeated: it may be another file than it seems.
 *
 * @param action what cannot be done without it
 * @throws SkillcellError `lock.invalid`
 */
export function parseLockJson(bytes: Uint8Array, caps: JsonCaps, action: string): unknown {
  try {
    const value = parseBoundedJson(bytes, caps);
    if (hasRepeatedKey(bytes, value)) throw new JsonRefused('a key that is there twice');
    return value;
  } catch (cause) {
    if (!(cause instanceof JsonRefused)) throw cause;
    // Node puts what it has read between quotation marks.
    const got = cause.message.includes('"') ? 'something else' : cause.message;
    throw new SkillcellError('lock.invalid', `Cannot ${action}: it must hold JSON, got ${got}.`);
  }
}
