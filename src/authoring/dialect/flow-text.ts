import { isScalar } from '../../skills/parse/yaml/lazy-yaml.ts';
import { entriesOf, isNull, itemsOf, writtenText } from '../../skills/parse/yaml/yaml-values.ts';

/** Numbers, truth values and null stay as written: `1.0` stays `1.0`. */
const BARE = /^[-+.\w]+$/;
/** Characters that JSON does not escape, but that a reader of YAML may refuse. */
// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * Writes a value of YAML on one line. Reading the line gives the same fields.
 *
 * @param node a node that `readYaml` accepted
 */
export function flowText(node: unknown): string {
  const items = itemsOf(node);
  if (items !== undefined) return `[${items.map(flowText).join(', ')}]`;
  const entries = entriesOf(node);
  if (entries !== undefined)
    return `{${entries.map(({ key, node: value }) => `${doubleQuoted(key)}: ${flowText(value)}`).join(', ')}}`;
  if (isNull(node)) return 'null';
  const written = writtenText(node) ?? '';
  const isText = !isScalar(node) || typeof node.value === 'string' || !BARE.test(written);
  return isText ? doubleQuoted(written) : written;
}

/** A text in double quotes that JSON and YAML read alike. */
export function doubleQuoted(text: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replace(UNPRINTABLE, escaped);
}
