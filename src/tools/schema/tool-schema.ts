/** What the AI SDK makes of a schema: the JSON schema, and how to check a value where the author says so. */
export interface SdkSchema {
  readonly jsonSchema: object | PromiseLike<object>;
  readonly validate?: ((value: unknown) => SdkVerdict | PromiseLike<SdkVerdict>) | undefined;
}

/** The value as a schema of the AI SDK gives it, or why it does not fit. */
export type SdkVerdict = { success: true; value: unknown } | { success: false; error: Error };

/** A schema of another library that implements Standard Schema (https://standardschema.dev). */
export interface StandardSchema {
  readonly '~standard': {
    readonly vendor: string;
    validate(value: unknown): StandardVerdict | PromiseLike<StandardVerdict>;
    /** What can also say its JSON schema does so here. */
    readonly jsonSchema?: Record<SchemaSide, (options: { target: string }) => Record<string, unknown>> | undefined;
  };
}

/** The value as a standard schema gives it, or its faults. */
export type StandardVerdict = { value: unknown; issues?: undefined } | { issues: readonly StandardIssue[] };

/** One fault that a standard schema found. */
export interface StandardIssue {
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined;
}

/** Whether a schema describes what goes in, or what comes out: they differ where a default or a transformation stands. */
export type SchemaSide = 'input' | 'output';

/** Options of {@link compileToolSchema}. */
export interface CompileSchemaOptions {
  /** Which side `json` describes. @default 'input' */
  io?: SchemaSide;
  /** What the message calls the schema: `the input of crm.find`. @default 'the tool' */
  subject?: string;
  /** Whether others than the author of this process wrote the schema; it is then held to 64 KiB, 1,000 schemas and a depth of 32. */
  outside?: boolean | undefined;
}

/** A value that fits, as the schema gives it, or what is wrong with it in one line. */
export type CheckedValue = { value: unknown } | { fault: string };

/** A schema that is enforced whole. */
export interface CompiledSchema {
  /** The JSON schema that describes it, for prompts and stubs. */
  readonly json: Record<string, unknown>;
  /**
   * @param value plain JSON
   * @returns the value, or its first three faults in one line without what a terminal or a prompt would take for something else
   * @throws what a function of the author's own schema throws
   */
  check(value: unknown): Promise<CheckedValue>;
}
