import type * as Yaml from 'yaml';
import type { Node, ParsedNode, Scalar, ScalarTag, Schema, YAMLError } from 'yaml';
import { placeAt, placeFinder, type TextPlace } from '../../text/text-place.ts';
import { isMap, isScalar, isSeq, yaml } from './lazy-yaml.ts';

const ALIAS = 'a value that begins with * is an alias to YAML; put it in quotes';
const ALIAS_VALUE = /^[ \t]*(?:- )*(?:[^\s:]+:[ \t]+)?\*/;

/** Advice for the parser's faults: the problem with the line, and a correct way to write it. */
const SENTENCES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: ALIAS,
  BAD_DIRECTIVE: 'a line that begins with % is a directive to YAML; put the text in quotes',
  BAD_DQ_ESCAPE:
    'a backslash in double quotes begins an escape that YAML does not have; double it, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines above; align lines that belong together',
  BAD_SCALAR_START: 'a value cannot begin with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value holds a colon and a blank; put it in quotes',
  BLOCK_IN_FLOW: 'a bracket is not closed before the next key; close it, or put the value in quotes',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; a line above may lack its colon or a quote',
  MULTIPLE_ANCHORS: 'a value that begins with & is an anchor to YAML; put it in quotes',
  MULTIPLE_DOCS: 'a second document begins here; keep one, and put a text that looks like --- or ... in quotes',
  MULTIPLE_TAGS: 'a value that begins with ! is a tag to YAML; put it in quotes',
  TAB_AS_INDENT: 'a tab stands where the line is indented; use blanks',
  TAG_RESOLVE_FAILED: 'a value that begins with ! is a tag to YAML; put it in quotes',
  UNEXPECTED_TOKEN: 'the text here does not belong to the value before it; put the whole value in quotes',
};

/** Content of a YAML text, or the reason why it is refused. Places are within the text. */
export type YamlReading =
  | { ok: true; root: ParsedNode | null; placeOf: PlaceOf }
  | { ok: false; message: string; place: TextPlace };

/** Place where a node begins; the beginning of the text for any other value. */
export type PlaceOf = (node: unknown) => TextPlace;

const CORE_TAGS: ReadonlySet<string> = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'seq', 'map'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Accepts most plain values as texts with one test. Otherwise each of the schema's eight expressions for null, truth values
 * and numbers would first have to fail.
 */
const PLAIN_TEXT: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^(?!(?:[Nn]ull|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE)$)[^-+.~\d]/,
  resolve: (text) => text,
};

/**
 * One schema for all documents, because building it costs as much as reading a small block. The parser would add known
 * tags beyond the core to it, so `resolveKnownTags` is off.
 */
let core: { schema: Schema; library: typeof Yaml } | undefined;

/**
 * Reads one YAML 1.2 document with the core schema. Refused besides syntax errors: aliases, a second document,
 * duplicate keys, keys that are lists or maps, and tags outside the core schema. `<<` is an ordinary key.
 *
 * @param text the document
 * @returns its root node, null if it is empty, or the first fault
 */
export function readYaml(text: string): YamlReading {
  const library = yaml();
  if (core?.library !== library) core = { library, schema: coreSchema(library) };
  // The library's own check of unique keys compares every key with every other one; a large file would take minutes.
  const document = library.parseDocument(text, {
    schema: core.schema,
    version: '1.2',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  });
  const [problem] = document.errors.length > 0 ? document.errors : document.warnings;
  if (problem !== undefined) {
    const place = placeAt(text, problem.pos[0]);
    return { ok: false, message: yamlFault(problem, text.split('\n')[place.line - 1]), place };
  }
  const find = placeFinder(text);
  const placeOf: PlaceOf = (node) => find(yaml().isNode(node) ? (node.range?.[0] ?? 0) : 0);
  const fault = findFault(document.contents);
  if (fault !== undefined) return { ok: false, message: fault.message, place: placeOf(fault.node) };
  return { ok: true, root: document.contents, placeOf };
}

function coreSchema({ Schema }: typeof Yaml): Schema {
  const customTags = (tags: Yaml.Tags): Yaml.Tags => [PLAIN_TEXT, ...tags];
  return new Schema({ schema: 'core', merge: false, resolveKnownTags: false, customTags });
}

/** Looks for values that the parser accepts but this reader refuses. It avoids recursion, because the author controls the nesting. */
function findFault(root: ParsedNode | null): { message: string; node: Node } | undefined {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (yaml().isAlias(node)) return { message: yamlFault({ code: 'BAD_ALIAS', message: '' }), node };
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) continue;
    if (node.tag !== undefined && !CORE_TAGS.has(node.tag))
      return { message: `the tag ${node.tag} is not allowed; put a value that begins with ! in quotes`, node };
    if (isSeq(node)) for (const item of node.items) pending.push(item);
    if (!isMap(node)) continue;
    const keys = new Set<unknown>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) return { message: 'a key must be a plain or quoted text; put it in quotes', node };
      if (keys.has(key.value)) return { message: `the key ${keyText(key)} is there twice; keep one`, node: key };
      keys.add(key.value);
      pending.push(key, value);
    }
  }
  return undefined;
}

/**
 * Returns the text of a key.
 *
 * @param key key of a map that {@link readYaml} accepted
 * @returns the key as it was written, quotes resolved
 */
export function keyText(key: Scalar): string {
  return key.source ?? String(key.value);
}

/**
 * Explains a fault of a YAML text, with advice, in one sentence.
 *
 * @param fault error or warning of the parser
 * @param line the faulty line
 * @returns the sentence without its final dot
 */
function yamlFault({ code, message }: Pick<YAMLError, 'code' | 'message'>, line = ''): string {
  // `**bold** text` is an alias followed by other text.
  if (code === 'UNEXPECTED_TOKEN' && ALIAS_VALUE.test(line)) return ALIAS;
  if (code === 'MISSING_CHAR') return missing(message);
  if (code === 'BAD_INDENT' && message.startsWith('Flow '))
    return 'a bracket is not closed, or its lines are not indented; close it, or put the value in quotes';
  return SENTENCES[code] ?? `${message}; put values with special characters in quotes`;
}

function missing(message: string): string {
  const quote = /closing (['"])quote/.exec(message)?.[1];
  if (quote !== undefined)
    return `a text that begins with ${quote} is not closed; add the quote, and indent its next lines`;
  if (message.startsWith('Implicit map keys'))
    return 'the line has no colon; write `key: value`, or indent it if it belongs to the line above';
  return `${message}; add the missing part, or put the value in quotes`;
}
