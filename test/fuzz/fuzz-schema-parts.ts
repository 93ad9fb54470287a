import type { SeededRandom } from '../chaos/seeded-random.ts';
import { someValue } from './fuzz-parts.ts';

type Choices<T> = readonly [T, ...T[]];

const NAMES: Choices<string> = [
  'a',
  'b',
  'length',
  '0',
  'toString',
  '__proto__',
  'constructor',
  'a/b~c',
  '',
  'é\u202e',
];
const TYPES: Choices<string> = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const PATTERNS: Choices<string> = [
  '^(a+)+$',
  '(a|b)*a(a|b){20}[cd]',
  '(?:a?){900}[bc]',
  '(?:a{1000}){1000}',
  '(?<=a)b(?=c)',
  '(a)\\1',
  '[\\p{L}\\p{N}]+',
  '\\u{1f600}\\ud83d',
  '^[^\\s\\S]*$',
  '(',
  '[z-a]',
  '__proto__',
  '',
];
const FORMATS: Choices<string> = ['email', 'uri', 'date-time', 'duration', 'ipv6', 'int32', 'regex', 'toString', ''];
const REFERENCES: Choices<string> = [
  '#',
  '#/$defs/a',
  '#/$defs/a',
  '#/$defs/b',
  '#/$defs/__proto__',
  '#/$defs/a~1b~0c',
  '#/properties/a',
  '#/%24defs/b',
  '#/%',
  '#name',
  '#/constructor',
  'https://example.com/other#',
];
const NUMBERS: Choices<number> = [0, 1, 2, 3, 0.1, -1, 1e-300, 1e308, 5e-324, -0, 2 ** 53];

/** A valid value of each keyword; `below` makes a schema in it. */
const KEYWORDS: Record<string, (random: SeededRandom, below: () => unknown) => unknown> = {
  ...each(
    ['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'],
    (_random, below) => below(),
  ),
  ...each(['unevaluatedItems', 'unevaluatedProperties', 'additionalItems'], (_random, below) => below()),
  ...each(['allOf', 'anyOf', 'oneOf', 'prefixItems'], (random, below) => listOf(random, 1, 3, below)),
  ...each(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'], (random, below) =>
    named(random, NAMES, below),
  ),
  ...each(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'], (random) =>
    random.pick(NUMBERS),
  ),
  ...each(
    ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'],
    (random) => random.between(0, 3),
  ),
  patternProperties: (random, below) => named(random, PATTERNS, below),
  dependentRequired: (random) => named(random, NAMES, () => listOf(random, 0, 2, () => random.pick(NAMES))),
  required: (random) => listOf(random, 0, 3, () => random.pick(NAMES)),
  type: (random) => (random.between(0, 2) > 0 ? random.pick(TYPES) : listOf(random, 1, 3, () => random.pick(TYPES))),
  enum: (random) => listOf(random, 0, random.pick([1, 3, 3, 1_000]), () => someValue(random, 2)),
  const: (random) => someValue(random),
  pattern: (random) => random.pick(PATTERNS),
  format: (random) => random.pick(FORMATS),
  uniqueItems: (random) => random.between(0, 3) > 0,
  $ref: (random) => random.pick(REFERENCES),
  $anchor: (random) => random.pick(['name', 'other', '__proto__', '']),
  description: () => '\u001b[2J',
  default: (random) => someValue(random),
  'x-skillcell-bytes': () => true,
};
const KEYWORD_NAMES = Object.keys(KEYWORDS) as [string, ...string[]];
/** Keys that are not keywords, or have another meaning elsewhere. */
const UNKNOWN: Choices<string> = [
  '$dynamicRef',
  '__proto__',
  'constructor',
  'nullable',
  '\u202ehidden',
  '_zod',
  '~standard',
];

/** A schema of any draft, mostly valid. */
export function someSchema(random: SeededRandom): unknown {
  // Without a schema a tool takes everything.
  if (random.between(0, 60) === 0) return odd(random) ?? 1n;
  const $schema = random.pick([
    undefined,
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
  ]);
  const schema = partOf(random, random.between(1, 5));
  const below = (): unknown => partOf(random, 2);
  return withKeys([
    ...Object.entries(isObject(schema) ? schema : { allOf: [schema] }),
    ...($schema === undefined ? [] : [['$schema', $schema] as const]),
    ...(random.between(0, 1) === 0
      ? []
      : [['$defs', withKeys(['a', 'b', 'a/b~c'].map((key) => [key, below()]))] as const]),
  ]);
}

function partOf(random: SeededRandom, depth: number): unknown {
  if (depth <= 0) return random.between(0, 4) > 0 ? {} : random.between(0, 1) === 0;
  if (random.between(0, 80) === 0) return odd(random);
  const entries = listOf(random, 0, 3, () => {
    const name = random.pick(KEYWORD_NAMES);
    if (random.between(0, 60) === 0) return [name, odd(random)] as const;
    if (random.between(0, 60) === 0) return [random.pick(UNKNOWN), odd(random)] as const;
    return [name, KEYWORDS[name]?.(random, () => partOf(random, depth - 1))] as const;
  });
  return withKeys(entries);
}

/** A value that is not a schema, and perhaps not JSON. */
function odd(random: SeededRandom): unknown {
  const kind = random.between(0, 5);
  if (kind === 0) return random.pick<unknown>([undefined, 1n, Number.NaN, Symbol('a'), new Date(0), new Map()]);
  if (kind > 1) return someValue(random, 3);
  const circle: Record<string, unknown> = {};
  circle[random.pick(['not', 'items', 'default'])] = circle;
  return circle;
}

/** A third-party schema at a cap or a little above it. Above it, the refusal contains `refused`. */
export function schemaAtCap(random: SeededRandom): { schema: object; refused: string | undefined } {
  const over = random.pick([0, 0, 1, 1, 2, 20_000]);
  const cases: Choices<() => { schema: object; told: string }> = [
    () => ({ schema: { description: 'x'.repeat(65_536 - '{"description":""}'.length + over) }, told: '65536 bytes' }),
    () => {
      const count = 999 + Math.min(over, 5);
      const parts = Array.from({ length: count }, (_, index) => [
        `p${index}`,
        random.pick<unknown>([true, {}, { minimum: 1 }]),
      ]);
      return { schema: { properties: Object.fromEntries(parts) as object }, told: '1000 schemas' };
    },
    () => ({
      schema: deep(32 + over, (inner) => ({ [random.pick(['not', 'items', 'contains'])]: inner })),
      told: over > 40 ? '80 arrays and objects in each other' : '32 schemas in each other',
    }),
    () => ({
      schema: deep(32 + Math.min(over, 2), (inner) => ({ [random.pick(['allOf', 'anyOf', 'oneOf'])]: [inner] })),
      told: '32 schemas in each other',
    }),
    () => ({
      schema: { default: deep(79 + over, (inner) => [inner], null) },
      told: '80 arrays and objects in each other',
    }),
  ];
  const { schema, told } = random.pick(cases)();
  return { schema, refused: over === 0 ? undefined : told };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function deep(depth: number, wrap: (inner: unknown) => object, core: unknown = {}): object {
  let schema = core;
  for (let level = 0; level < depth; level += 1) schema = wrap(schema);
  return schema as object;
}

function listOf<T>(random: SeededRandom, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: random.between(least, most) }, make);
}

function named(random: SeededRandom, names: Choices<string>, make: () => unknown): object {
  return withKeys(listOf(random, 0, 3, () => [random.pick(names), make()] as const));
}

/** An object that can also have an own key `__proto__`, as in JSON. */
function withKeys(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}

function each<T>(names: readonly string[], make: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, make]));
}
