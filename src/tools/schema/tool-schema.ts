/** A schema in the form of the AI SDK: its JSON schema, and optionally a function that checks values. */
export interface SdkSchema {
  readonly jsonSchema: object | PromiseLike<object>;
  readonly validate?: ((value: unknown) => SdkVerdict | PromiseLike<SdkVerdict>) | undefined;
}

/** The parsed value of a schema of the AI SDK, or the reason why it does not fit. */
export type SdkVerdict = { success: true; value: unknown } | { success: false; error: Error };

/** A schema of another library that implements Standard Schema (https://standardschema.dev). */
export interface StandardSchema {
  readonly '~standard': {
    readonly vendor: string;
    validate(value: unknown): StandardVerdict | PromiseLike<StandardVerdict>;
    /** Present if the library can provide its JSON schema. */
    readonly jsonSchema?: Record<SchemaSide, (options: { target: string }) => Record<string, unknown>> | undefined;
  };
}

/** The parsed value of a Standard Schema, or its faults. */
export type StandardVerdict = { value: unknown; issues?: undefined } | { issues: readonly StandardIssue[] };

/** One fault from a Standard Schema. */
export interface StandardIssue {
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined;
}

/** Whether a schema describes its input or its output: they differ with a default or a transformation. */
export type SchemaSide = 'input' | 'output';

/** Options of {@link compileToolSchema}. */
export interface CompileSchemaOptions {
  /** The side that `json` describes. @default 'input' */
  io?: SchemaSide;
  /** Name of the schema in messages: `the input of crm.find`. @default 'the tool' */
  subject?: string;
  /** Whether the schema is untrusted; it may then have at most 64 KiB, 1,000 schemas and a depth of 32. */
  outside?: boolean | undefined;
}

/** The parsed value if it fits, or its faults in one line. */
export type CheckedValue = { value: unknown } | { fault: string };

/** A schema that is enforced completely. */
export interface CompiledSchema {
  /** The JSON schema that describes it, for prompts and stubs. */
  readonly json: Record<string, unknown>;
  /**
   * @param value plain JSON
   * @returns the value, or its first three faults in one line without special characters of terminals or prompts
   * @throws errors of functions in the author's own schema
   */
  check(value: unknown): Promise<CheckedValue>;
}
