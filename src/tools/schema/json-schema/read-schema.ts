import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SchemaRefused } from '../schema-refused.ts';
import type { SchemaCaps } from './copy-schema.ts';
import { DEFINITIONS, type Dialect, dialectOf, isAnnotation } from './keywords/dialects.ts';
import { isObject, isText, type Referred, type SchemaReading } from './keywords/keyword.ts';
import { namedSchemas } from './keywords/keywords-of-objects.ts';
import type { SchemaNode } from './node.ts';
import { patternReader } from './patterns/pattern.ts';
import { fault } from './run.ts';

/** Most times that schemas may check one and the same value. */
const MAX_FAN = 20_000;
const MAX_CHAIN = 500;
const OPEN = -1;

/** State of reading a schema. */
interface ReadState extends Pick<SchemaReading, 'pattern'> {
  caps: SchemaCaps;
  dialect: Dialect;
  /** `$id` of the whole schema. */
  id: string;
  /** Keys to the current schema. */
  path: string[];
  depth: number;
  /** By JSON pointer, and by `#` and `$anchor`. */
  nodes: Map<string, SchemaNode>;
  /** References that are resolved once all schemas are read. */
  open: { from: SchemaNode; to: Referred; reference: string; path: string[] }[];
}

const ANCHOR = /^[A-Za-z_][\w.-]*$/;

/**
 * Reads a JSON schema: 2020-12, or draft-07 if `$schema` names it.
 *
 * @param schema plain JSON
 * @throws {SchemaRefused} names the part that cannot be enforced
 */
export function readSchema(schema: unknown, caps: SchemaCaps): SchemaNode {
  const { $schema, $id } = isObject(schema) ? schema : {};
  const state: ReadState = {
    caps,
    dialect: dialectOf($schema),
    id: isText($id) ? $id.replace(/#$/, '') : '',
    path: [],
    depth: 0,
    nodes: new Map(),
    open: [],
    pattern: patternReader(),
  };
  try {
    const root = readNode(schema, state);
    state.open.forEach((reference) => closeReference(reference, state));
    checkFans(state.nodes.values());
    return root;
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    throw new SchemaRefused(error.message, state.path);
  }
}

function closeReference({ from, to, reference, path }: ReadState['open'][number], state: ReadState): void {
  state.path = path;
  const [, fragment] =
    /^#(.*)$/s.exec(reference.startsWith(state.id) ? reference.slice(state.id.length) || '#' : '') ?? [];
  const node = fragment === undefined ? undefined : state.nodes.get(nodeKey(fragment));
  if (node === undefined)
    throw new SchemaRefused(`the keyword "$ref" with ${quotedText(reference)}, where no schema is`);
  to.node = node;
  from.inPlace.push(node);
}

/** A fragment is a JSON pointer, or the name of an anchor. */
function nodeKey(fragment: string): string {
  const decoded = decode(fragment);
  return decoded === '' || decoded.startsWith('/') ? decoded : `#${decoded}`;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // An invalid escape names no schema; the caller reports it.
    return fragment;
  }
}

function readNode(schema: unknown, state: ReadState): SchemaNode {
  const { caps, nodes, path } = state;
  const node: SchemaNode = { checks: [], readsMarks: false, inPlace: [] };
  nodes.set(path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''), node);
  if (nodes.size > caps.schemas) throw new SchemaRefused(`more than ${caps.schemas} schemas`);
  if (state.depth > caps.depth) throw new SchemaRefused(`more than ${caps.depth} schemas in each other`);
  if (schema === false) node.checks.push((_value, run) => fault(run, 'is not allowed'));
  if (typeof schema === 'boolean') return node;
  if (!isObject(schema)) throw new SchemaRefused('something else than an object, true or false for a schema');
  refuseUnknown(schema, state);
  readNames(schema, node, state);
  const reading = readingOf(schema, node, state);
  for (const keyword of DEFINITIONS) namedSchemas(reading, keyword);
  for (const { names, read } of state.dialect.keywords) {
    if (!names.some((name) => Object.hasOwn(schema, name))) continue;
    const check = read(reading);
    if (check !== undefined) node.checks.push(check);
  }
  node.readsMarks = Object.keys(schema).some((name) => name.startsWith('unevaluated'));
  return node;
}

function refuseUnknown(schema: Record<string, unknown>, { dialect }: ReadState): void {
  const names = Object.keys(schema);
  const isKnown = (name: string): boolean =>
    dialect.names.has(name) || DEFINITIONS.includes(name) || dialect.identifiers.includes(name) || isAnnotation(name);
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw new SchemaRefused(`the keyword ${quotedText(unknown)}`);
  if (dialect.refHasSiblings || !names.includes('$ref')) return;
  const ignored = names.find((name) => dialect.names.has(name) && name !== '$ref');
  if (ignored !== undefined)
    throw new SchemaRefused(`the keyword ${quotedText(ignored)} beside "$ref", where draft-07 ignores it`);
}

/** Reads the names of a schema: `$id`, `$schema` and `$anchor`. */
function readNames(schema: Record<string, unknown>, node: SchemaNode, { path, nodes }: ReadState): void {
  for (const name of ['$id', '$schema', '$anchor']) {
    const value = schema[name];
    if (value === undefined) continue;
    if (!isText(value)) throw new SchemaRefused(`the keyword "${name}" with another value than a text`);
    if (name !== '$anchor' && path.length > 0) throw new SchemaRefused(`the keyword "${name}" below the top`);
    if (name !== '$anchor') continue;
    if (!ANCHOR.test(value) || nodes.has(`#${value}`))
      throw new SchemaRefused('the keyword "$anchor" with no name of its own');
    nodes.set(`#${value}`, node);
  }
}

function readingOf(schema: Record<string, unknown>, node: SchemaNode, state: ReadState): SchemaReading {
  const below = (...keys: string[]): SchemaNode => readBelow(schema, keys, state);
  return {
    schema,
    below,
    inPlace(...keys) {
      const part = below(...keys);
      node.inPlace.push(part);
      return part;
    },
    referred(reference) {
      const to: Referred = { node };
      state.open.push({ from: node, to, reference, path: [...state.path] });
      return to;
    },
    pattern: state.pattern,
  };
}

function readBelow(schema: Record<string, unknown>, keys: readonly string[], state: ReadState): SchemaNode {
  state.path.push(...keys);
  state.depth += 1;
  const part = keys.reduce<unknown>((whole, key) => (whole as Record<string, unknown>)[key], schema);
  const node = readNode(part, state);
  state.depth -= 1;
  state.path.splice(-keys.length);
  return node;
}

/**
 * Refuses schemas that take too long for any value: schemas that apply themselves to the same value, and schemas that multiply.
 * For example, thirty schemas that each refer twice to the next one apply the last one 2^30 times.
 */
function checkFans(nodes: Iterable<SchemaNode>): void {
  const fans = new Map<SchemaNode, number>();
  for (const node of nodes) fanOf(node, fans, 0);
}

function fanOf(node: SchemaNode, fans: Map<SchemaNode, number>, chain: number): number {
  const known = fans.get(node);
  if (known === OPEN) throw new SchemaRefused('the keyword "$ref" back to its own schema, about the same value');
  if (known !== undefined) return known;
  if (chain > MAX_CHAIN) throw new SchemaRefused(`the keyword "$ref" in a chain of more than ${MAX_CHAIN} schemas`);
  fans.set(node, OPEN);
  const fan = node.inPlace.reduce((sum, part) => sum + fanOf(part, fans, chain + 1), 1);
  if (fan > MAX_FAN) throw new SchemaRefused(`the keyword "$ref" so that one value is judged over ${MAX_FAN} times`);
  fans.set(node, fan);
  return fan;
}
