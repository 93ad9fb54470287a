import * as z from 'zod/mini';
import type { ErrorCode } from '../errors/error-registry.ts';
import { explainIssue, NO_WORDS } from './explain-issue.ts';
import { SkillcellError } from '../errors/skillcell-error.ts';

/** How a refusal reads. */
export interface CheckedAs {
  /** What cannot be done: "create the orchestrator". */
  action: string;
  /** @default 'the options' */
  whole?: string;
  /** @default 'options.invalid' */
  code?: ErrorCode;
  /** Advice that fits better than that of the code. */
  hint?: string;
}

/**
 * Validates what a caller gave, once, at the edge.
 *
 * @param schema strict, so that a misspelt field is never ignored
 * @param given what no type checker may have seen
 * @returns what the schema made of it
 * @throws SkillcellError with the field, what is allowed there, and the value
 */
export function checkOptions<T>(
  schema: z.core.$ZodType<T>,
  given: unknown,
  { action, whole, code, hint }: CheckedAs,
): T {
  const parsed = z.safeParse(schema, given, { error: () => NO_WORDS });
  if (parsed.success) return parsed.data;
  const { reason, advice } = explainIssue(schema, given, parsed.error.issues, whole ?? 'the options');
  const message = `Cannot ${action}: ${reason}.${advice === undefined ? '' : ` ${advice}`}`;
  throw new SkillcellError(code ?? 'options.invalid', message, hint === undefined ? {} : { hint });
}
