import { quotedText } from './quoted-text.ts';

const PLAIN = /^(?:[A-Za-z_$][\w$]*|\d+)$/;

/**
 * How a field is written in a message: `limits.memoryMib`, `runners.0.name`, `files["../a"].source`.
 *
 * @param path keys and indexes from the whole to the field
 */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.map(String).reduce((name, key) => {
    if (name === '') return PLAIN.test(key) ? key : quotedText(key);
    return PLAIN.test(key) ? `${name}.${key}` : `${name}[${quotedText(key)}]`;
  }, '');
}
