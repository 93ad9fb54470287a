import * as z from 'zod/mini';

/** Faults that a message names. */
const NAMED_FAULTS = 5;

/** Judges values by a schema, on the host. */
export interface OutputJudge {
  /** The schema as JSON schema, for a prompt. */
  readonly json: Record<string, unknown>;
  /** What the schema makes of a value, or what is wrong with it, in words for a model. */
  check(value: unknown): Promise<{ value: unknown } | { fault: string }>;
}

/**
 * Makes the judge of a zod schema.
 *
 * @throws Error when the schema cannot be written as a JSON schema: no model could be told of it
 */
export function zodJudge(schema: z.core.$ZodType): OutputJudge {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: 'input' });
  return {
    json: written,
    async check(value) {
      const parsed = await z.safeParseAsync(schema, value);
      if (parsed.success) return { value: parsed.data };
      const { issues } = parsed.error;
      const faults = issues.slice(0, NAMED_FAULTS).map(faultText);
      const more = issues.length - faults.length;
      return { fault: `${faults.join('; ')}${more > 0 ? `; and ${more} more` : ''}` };
    },
  };
}

/** Whether a value is a schema of zod's. */
export function isZodSchema(value: unknown): value is z.core.$ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value;
}

function faultText(issue: z.core.$ZodIssue): string {
  const where = issue.path.map(String).join('.').slice(0, 80);
  // The small flavour of zod has no words of its own.
  const said = issue.message === '' || issue.message === 'Invalid input' ? undefined : issue.message.slice(0, 300);
  const fault = said ?? (issue.code === 'invalid_type' ? `expected ${issue.expected}` : issue.code);
  return where === '' ? fault : `${where}: ${fault}`;
}
