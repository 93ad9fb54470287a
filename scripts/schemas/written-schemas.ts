import type { JsonSchema } from './json-schema.ts';

/** A scalar of YAML: readers take its written text. */
export const SCALAR: JsonSchema = { type: ['string', 'number', 'boolean'] };
/** A scalar, or null, which counts as a missing key. */
export const SCALAR_OR_NOTHING: JsonSchema = { type: ['string', 'number', 'boolean', 'null'] };
/** A scalar that is not blank. */
export const PRESENT: JsonSchema = { ...SCALAR, pattern: String.raw`\S` };
/** A list of scalars, or one scalar. */
export const SCALARS: JsonSchema = {
  type: ['string', 'number', 'boolean', 'null', 'array'],
  items: SCALAR_OR_NOTHING,
};
