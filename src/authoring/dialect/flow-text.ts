import { isScalar } from '../../skills/parse/yaml/lazy-yaml.ts';
import { entriesOf, isNull, itemsOf, writtenText } from '../../skills/parse/yaml/yaml-values.ts';

/** Numbers, truth values and null as they are written: `1.0` stays that. */
const BARE = /^[-+.\w]+$/;
/** What JSON leaves as it is and a reader of YAML may not. */
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * A value of YAML on one line, which gives the same fields when it is read again.
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

/** A text in double quotes, for JSON and YAML alike. */
export function doubleQuoted(text: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replace(UNPRINTABLE, escaped);
}
