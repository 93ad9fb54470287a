import {
  commaListShape,
  forbiddingShape,
  importListShape,
  lineListShape,
  nameListShape,
  permissionListShape,
  providerShape,
  type Shape,
  textListShape,
  textMapShape,
  textShape,
  triggersShape,
  truthShape,
} from '../../src/skills/parse/field-shapes.ts';
import { FIELD_RULES } from '../../src/skills/parse/skill-fields.ts';
import { STRICT_KEYS, STRICT_LIMITS } from '../../src/skills/parse/strict-validate.ts';
import type { JsonSchema, NamedSchema } from './json-schema.ts';
import { PRESENT, SCALAR, SCALAR_OR_NOTHING, SCALARS } from './written-schemas.ts';

const TRUTH: JsonSchema = { type: ['boolean', 'null'] };

/** The values of each shape that cause no diagnostic. */
const SHAPES: ReadonlyMap<Shape, JsonSchema> = new Map([
  [textShape, SCALAR_OR_NOTHING],
  [truthShape, TRUTH],
  [forbiddingShape, TRUTH],
  [nameListShape, { type: ['array', 'null'] }],
  [commaListShape, SCALARS],
  [textListShape, SCALARS],
  [lineListShape, SCALARS],
  [importListShape, SCALARS],
  [permissionListShape, SCALARS],
  [textMapShape, { type: ['object', 'null'] }],
  [
    triggersShape,
    {
      type: ['string', 'number', 'boolean', 'null', 'array', 'object'],
      items: SCALAR_OR_NOTHING,
      properties: { keywords: SCALARS, verbs: SCALARS, patterns: SCALARS },
    },
  ],
  [providerShape, { type: ['object', 'null'], properties: { module: SCALAR_OR_NOTHING, class: SCALAR_OR_NOTHING } }],
]);

/** The frontmatter of a SKILL.md, as the loader reads it. */
export function lenientFrontMatter(): NamedSchema {
  const properties = [...FIELD_RULES].map(([key, { shape }]): [string, JsonSchema] => {
    const schema = SHAPES.get(shape);
    if (schema === undefined) throw new Error(`No schema for the shape of ${key}.`);
    return [key, { description: `${capital(shape.allowed)}.`, ...schema }];
  });
  return {
    title: 'Frontmatter of SKILL.md',
    description:
      'The frontmatter that skillcell reads without a diagnostic. Unknown keys are kept, a known key of another shape is a warning, and a skill without a description is not loaded.',
    schema: {
      type: 'object',
      properties: { ...Object.fromEntries(properties), description: { description: 'A text.', ...PRESENT } },
      required: ['description'],
    },
  };
}

/** The same by the Agent Skills specification alone. */
export function strictFrontMatter(): NamedSchema {
  const { name, description, compatibility } = STRICT_LIMITS;
  const properties: Record<string, JsonSchema> = {
    name: {
      description: 'Lower-case letters, digits and single hyphens inside; the name of the folder.',
      ...SCALAR,
      pattern: String.raw`^\s*(?=\S{1,${name}}\s*$)[\p{Ll}\p{Lm}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lm}\p{Lo}\p{N}]+)*\s*$`,
    },
    description: { description: `At most ${description} characters.`, ...SCALAR, pattern: upTo(description) },
    compatibility: { description: `At most ${compatibility} characters.`, ...SCALAR, pattern: upTo(compatibility) },
    metadata: { description: 'A map from texts to texts.', type: 'object', additionalProperties: SCALAR },
  };
  return {
    title: 'Frontmatter of SKILL.md by the Agent Skills specification',
    description:
      'The frontmatter that `skillcell skills validate --strict` accepts. That command also checks that the name is the name of the folder, and compares names in NFKC.',
    schema: {
      type: 'object',
      properties: Object.fromEntries([...STRICT_KEYS].map((key) => [key, properties[key] ?? {}])),
      required: ['name', 'description'],
      additionalProperties: false,
    },
  };
}

/** A text that is not blank, with at most `limit` characters between surrounding blanks. */
function upTo(limit: number): string {
  return String.raw`^\s*\S[\s\S]{0,${limit - 1}}\s*$`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
