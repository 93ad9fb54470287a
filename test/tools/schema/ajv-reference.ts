import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';

/** A schema that ajv judges by the specification. */
export type JsonSchema = Record<string, unknown> | boolean;

/**
 * Leaves out the cases in which ajv deviates from the specification: an empty name, `contains` beside a tuple, the marks of
 * failed alternatives, and, without `ownProperties`, the names of Object.prototype.
 */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  unicodeRegExp: true,
  ownProperties: true,
};
const names = fc.constantFrom('a', 'b', 'c', 'ab', 'constructor');
const scalars = fc.constantFrom(
  null,
  true,
  false,
  0,
  1,
  2,
  3,
  0.5,
  1.5,
  -1,
  '',
  'a',
  'ab',
  'abc',
  '\u{1f600}',
  'b\ud800',
);
/** Small values that may fit schemas of {@link schemas}. */
export const values: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** Small schemas of a draft. */
export function schemas(only2020: boolean): fc.Arbitrary<JsonSchema> {
  const counts = fc.integer({ min: 0, max: 3 });
  return fc.letrec<{ schema: JsonSchema }>((tie) => {
    const schema = tie('schema');
    const list = fc.array(schema, { minLength: 1, maxLength: 3 });
    const named = fc.dictionary(names, schema, { maxKeys: 3, noNullPrototype: true });
    const lists = fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true });
    const types = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
    const common = {
      type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
      const: values,
      enum: fc.uniqueArray(values, { minLength: 1, maxLength: 3, selector: (value) => JSON.stringify(value) }),
      minimum: counts,
      maximum: counts,
      exclusiveMinimum: counts,
      exclusiveMaximum: counts,
      multipleOf: fc.constantFrom(0.5, 1, 2),
      minLength: counts,
      maxLength: counts,
      pattern: fc.constantFrom('^a', 'b$', 'ab?', '^[^a]*$', '\\w'),
      minItems: counts,
      maxItems: counts,
      uniqueItems: fc.boolean(),
      required: fc.uniqueArray(names, { maxLength: 2 }),
      minProperties: counts,
      maxProperties: counts,
      properties: named,
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '^$'), schema, { maxKeys: 2, noNullPrototype: true }),
      additionalProperties: schema,
      propertyNames: schema,
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: schema,
      if: schema,
      else: schema,
      // A literal with the key `then` could be taken for a promise.
      ['then' as string]: schema,
    };
    const parts = only2020
      ? {
          ...common,
          prefixItems: list,
          items: schema,
          dependentRequired: lists,
          dependentSchemas: named,
        }
      : {
          ...common,
          items: fc.oneof(schema, list),
          additionalItems: schema,
          dependencies: fc.dictionary(names, fc.oneof(schema, fc.uniqueArray(names, { maxLength: 2 })), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
        };
    const keywords = Object.entries(parts).map(([name, part]) => fc.record({ [name]: part }));
    const one = fc
      .array(fc.oneof(...(keywords as fc.Arbitrary<Record<string, unknown>>[])), { maxLength: 4 })
      .map((found) => Object.assign({}, ...found) as JsonSchema);
    return { schema: fc.oneof({ maxDepth: 3, depthIdentifier: 'schema' }, fc.boolean(), one, one) };
  }).schema;
}

/** Keywords that compare values: ajv finds two values different if the objects under their `constructor` are not identical. */
const COMPARES = /"(?:const|enum|uniqueItems)":/;
const OWN_CONSTRUCTOR = /"constructor":[[{]/;

/** Whether a value fits in ajv; undefined if ajv cannot tell: its generated code throws, or compares wrongly. */
export function judge(reference: ValidateFunction, value: unknown): unknown {
  if (OWN_CONSTRUCTOR.test(JSON.stringify(value)) && COMPARES.test(JSON.stringify(reference.schema))) return undefined;
  try {
    return reference(value);
  } catch {
    return undefined;
  }
}

/** Each draft by its name, with a factory of references for it. */
export const DRAFTS = [
  ['2020-12', 'https://json-schema.org/draft/2020-12/schema', true, (): Ajv => new Ajv2020(OPTIONS)],
  ['draft-07', 'http://json-schema.org/draft-07/schema#', false, (): Ajv => new Ajv(OPTIONS)],
] as const;

/** A schema with its draft in `$schema`. */
export function ofDraft(part: JsonSchema, $schema: string): Record<string, unknown> {
  return typeof part === 'boolean' ? { $schema, allOf: [part] } : { $schema, ...part };
}
