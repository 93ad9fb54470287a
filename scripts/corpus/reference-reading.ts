import { isMap, isScalar, parseDocument, visit } from 'yaml';

const FENCE = /^---[ \t]*$/;
const LIMIT = 16 * 1024;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the description of a SKILL.md with only `yaml` and an independent splitter.
 *
 * @returns undefined if the rules find no description: no text, no frontmatter, no YAML of the core schema, or no description that is a text
 */
export function referenceReading(bytes: Uint8Array): { description: string } | undefined {
  if (bytes.includes(0)) return undefined;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // Bytes that are not UTF-8 are not text.
    return undefined;
  }
  const [first = '', ...lines] = (text.startsWith('\ufeff') ? text.slice(1) : text)
    .replaceAll('\r\n', '\n')
    .split('\n');
  const close = lines.findIndex((line) => FENCE.test(line));
  if (!FENCE.test(first) || close < 0) return undefined;
  const block = lines
    .slice(0, close)
    .map((line) => `${line}\n`)
    .join('');
  if (Buffer.byteLength(block) > LIMIT) return undefined;
  const document = parseDocument(block, { schema: 'core', merge: false, version: '1.2', logLevel: 'error' });
  if (document.errors.length + document.warnings.length > 0 || !isMap(document.contents)) return undefined;
  let isPlain = true;
  visit(document, {
    Alias: () => void (isPlain = false),
    Pair: (_key, { key }) => void (isPlain &&= isScalar(key)),
    Node: (_key, node) => void (isPlain &&= node.tag === undefined || node.tag.startsWith('tag:yaml.org,2002:')),
  });
  const value: unknown = document.contents.get('description', true);
  if (!isPlain || !isScalar(value) || typeof value.value !== 'string') return undefined;
  return value.value.trim() === '' ? undefined : { description: value.value };
}
