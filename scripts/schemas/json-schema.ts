/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema that is written into `docs/schemas/`. */
export interface NamedSchema {
  title: string;
  description: string;
  schema: JsonSchema;
}
