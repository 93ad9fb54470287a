import { BASE64_LIMIT, KEPT_FIELDS } from '../../src/skills/parse/source-row.ts';
import type { JsonSchema, NamedSchema } from './json-schema.ts';
import { PRESENT } from './written-schemas.ts';

/** A `tools.yaml` without dropped entries. */
export function toolsFile(): NamedSchema {
  const entry: JsonSchema = {
    ...PRESENT,
    type: ['string', 'number', 'boolean', 'object'],
    properties: {
      id: { description: 'The id of the tool.', ...PRESENT },
      role: { description: 'Its purpose, in a few words.' },
      why: { description: 'Why the skill needs it; `reason` and `description` are read as well.' },
      required: { description: 'true if the skill is useless without it.' },
    },
    required: ['id'],
  };
  const list: JsonSchema = { type: ['array', 'null'], items: entry };
  return {
    title: 'tools.yaml',
    description:
      'The tools that a skill names: a list under `tools` or `tool_ids`, or bare, of ids or of maps with an id.',
    schema: {
      ...list,
      type: ['array', 'null', 'object'],
      properties: { tools: list },
      if: { type: 'object', not: { required: ['tools'] } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { tool_ids: list }, required: ['tool_ids'] },
    },
  };
}

/** A `sources.yaml` without dropped rows. */
export function sourcesFile(): NamedSchema {
  const text: JsonSchema = { ...PRESENT };
  const sid: JsonSchema = {
    description: 'A positive whole number.',
    anyOf: [
      { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: String.raw`^\s*0*[1-9][0-9]*\s*$|^$` },
      { type: 'null' },
    ],
  };
  const row = (keyed: boolean): JsonSchema => ({
    type: 'object',
    properties: {
      ...(keyed ? {} : { sid }),
      url: { description: 'An http or https address; `href` is read as well.' },
      physical_path: { description: 'A path of a file instead; `local_path` is read as well.' },
      ...Object.fromEntries(KEPT_FIELDS.map((field) => [field, {}])),
      base64: { maxLength: BASE64_LIMIT },
    },
    anyOf: ['url', 'href', 'physical_path', 'local_path'].map((field) => ({
      properties: { [field]: text },
      required: [field],
    })),
  });
  const list: JsonSchema = { type: 'array', items: row(false) };
  const map: JsonSchema = {
    type: 'object',
    propertyNames: { pattern: String.raw`^\s*0*[1-9][0-9]*\s*$` },
    additionalProperties: row(true),
  };
  const rows: JsonSchema = { anyOf: [list, map, { type: 'null' }] };
  const under = (field: string): JsonSchema => ({
    type: 'object',
    properties: { [field]: rows },
    required: [field],
  });
  return {
    title: 'sources.yaml',
    description:
      'The sources that a skill cites: a list of rows, or a map of them by sid, under `sources` or `items` or bare. The reader also checks that sids are unique and that addresses are valid.',
    schema: {
      anyOf: [list, map, { type: 'null' }, under('sources'), { ...under('items'), not: { required: ['sources'] } }],
    },
  };
}
