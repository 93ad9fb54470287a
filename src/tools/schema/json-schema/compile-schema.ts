import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SchemaRefused } from '../schema-refused.ts';
import { isObject, isText } from '../document/kinds-of-values.ts';
import { referenceFinder, type ReferenceFinder } from '../document/reference-finder.ts';
import { keysOf, keyword, wholeSchema, type SchemaPart } from '../document/schema-part.ts';
import type { SchemaCaps } from './copy-schema.ts';
import { DEFINITIONS, type Dialect, dialectOf, isAnnotation } from './keywords/dialects.ts';
import { optionalNamed, type Referred, type SchemaReading } from './keywords/keyword.ts';
import type { SchemaNode } from './node.ts';
import { patternReader } from './patterns/pattern.ts';
import { fault } from './run.ts';

/** Most times that schemas may check one and the same value. */
const MAX_FAN = 20_000;
const MAX_CHAIN = 500;
const OPEN = -1;

/** State of compiling a schema. */
interface CompileState extends Pick<SchemaReading, 'pattern'> {
  caps: SchemaCaps;
  dialect: Dialect;
  find: ReferenceFinder;
  /** The current schema, for refusals. */
  part: SchemaPart;
  /** By JSON pointer, and by `#` and `$anchor`. */
  nodes: Map<string, SchemaNode>;
  /** References that are resolved once all schemas are compiled. */
  open: { from: SchemaNode; to: Referred; reference: string; part: SchemaPart }[];
}

const ANCHOR = /^[A-Za-z_][\w.-]*$/;

/**
 * Compiles a JSON schema: 2020-12, or draft-07 if `$schema` names it.
 *
 * @param schema plain JSON
 * @throws {SchemaRefused} names the part that cannot be enforced
 */
export function compileSchema(schema: unknown, caps: SchemaCaps): SchemaNode {
  const whole = wholeSchema(schema);
  const state: CompileState = {
    caps,
    dialect: dialectOf(keyword(whole, '$schema')),
    find: referenceFinder(whole),
    part: whole,
    nodes: new Map(),
    open: [],
    pattern: patternReader(),
  };
  try {
    const node = compilePart(whole, state);
    state.open.forEach((reference) => closeReference(reference, state));
    checkFans(state.nodes.values());
    return node;
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    throw new SchemaRefused(error.message, keysOf(state.part.pointer));
  }
}

function closeReference({ from, to, reference, part }: CompileState['open'][number], state: CompileState): void {
  state.part = part;
  const target = state.find(reference);
  const node = target && state.nodes.get(target.pointer);
  if (node === undefined)
    throw new SchemaRefused(`the keyword "$ref" with ${quotedText(reference)}, where no schema is`);
  to.node = node;
  from.inPlace.push(node);
}

/** A refusal leaves the current schema in the state. */
function compilePart(part: SchemaPart, state: CompileState): SchemaNode {
  const { caps, nodes, part: outer } = state;
  state.part = part;
  const node: SchemaNode = { checks: [], readsMarks: false, inPlace: [] };
  nodes.set(part.pointer, node);
  if (nodes.size > caps.schemas) throw new SchemaRefused(`more than ${caps.schemas} schemas`);
  if (part.level > caps.depth) throw new SchemaRefused(`more than ${caps.depth} schemas in each other`);
  compileValue(part, node, state);
  state.part = outer;
  return node;
}

function compileValue(part: SchemaPart, node: SchemaNode, state: CompileState): void {
  if (part.value === false) node.checks.push((_value, run) => fault(run, 'is not allowed'));
  if (typeof part.value === 'boolean') return;
  if (!isObject(part.value)) throw new SchemaRefused('something else than an object, true or false for a schema');
  refuseUnknown(part, state);
  readNames(part, node, state);
  const reading = readingOf(part, node, state);
  for (const name of DEFINITIONS) optionalNamed(reading, name).forEach(([, definition]) => reading.below(definition));
  for (const { names, read } of state.dialect.keywords) {
    if (!names.some((name) => Object.hasOwn(part.keywords, name))) continue;
    const check = read(reading);
    if (check !== undefined) node.checks.push(check);
  }
  node.readsMarks = Object.keys(part.keywords).some((name) => name.startsWith('unevaluated'));
}

function refuseUnknown({ keywords }: SchemaPart, { dialect }: CompileState): void {
  const names = Object.keys(keywords);
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
function readNames(part: SchemaPart, node: SchemaNode, { nodes }: CompileState): void {
  for (const name of ['$id', '$schema', '$anchor']) {
    const value = keyword(part, name);
    if (value === undefined) continue;
    if (!isText(value)) throw new SchemaRefused(`the keyword "${name}" with another value than a text`);
    if (name !== '$anchor' && part.pointer !== '') throw new SchemaRefused(`the keyword "${name}" below the top`);
    if (name !== '$anchor') continue;
    if (!ANCHOR.test(value) || nodes.has(`#${value}`))
      throw new SchemaRefused('the keyword "$anchor" with no name of its own');
    nodes.set(`#${value}`, node);
  }
}

function readingOf(part: SchemaPart, node: SchemaNode, state: CompileState): SchemaReading {
  const below = (inner: SchemaPart): SchemaNode => compilePart(inner, state);
  return {
    part,
    below,
    inPlace(inner) {
      const found = below(inner);
      node.inPlace.push(found);
      return found;
    },
    referred(reference) {
      const to: Referred = { node };
      state.open.push({ from: node, to, reference, part });
      return to;
    },
    pattern: state.pattern,
  };
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
