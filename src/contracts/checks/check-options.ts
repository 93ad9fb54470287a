import * as z from 'zod/mini';
import type { ErrorCode } from '../errors/error-registry.ts';
import { explainIssue, NO_WORDS } from './explain-issue.ts';
import { SkillcellError } from '../errors/skillcell-error.ts';

/** Parts of the error message. */
export interface CheckedAs {
  /** The action that fails: "create the orchestrator". */
  action: string;
  /** Name of the whole value. @default 'the options' */
  whole?: string;
  /** @default 'options.invalid' */
  code?: ErrorCode;
  /** Replaces the advice of the code. */
  hint?: string;
}

/**
 * Validates the input of a caller once, at the public entry.
 *
 * @param schema strict, so that a misspelt field is never ignored
 * @param given the input, which no type checker may have seen
 * @returns the parsed value
 * @throws SkillcellError with the field, its allowed values, and the value
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
