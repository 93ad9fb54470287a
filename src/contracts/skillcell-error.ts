import { errorEntry, type ErrorCode, type ErrorEntry } from './error-registry.ts';
import type { Diagnostic } from './diagnostic.ts';

const MARKER = Symbol.for('skillcell.error');

/** Options of {@link SkillcellError}. */
export interface SkillcellErrorOptions {
  cause?: unknown;
  /** Advice that fits this case better than the registry's. */
  hint?: string;
  diagnostics?: Diagnostic[];
}

/**
 * A broken promise of ours, or an input that cannot be accepted. Failing user programs are results instead.
 * Messages read "Cannot <action>: <what is wrong>, got <value>."
 */
export class SkillcellError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly diagnostics: Diagnostic[];

  constructor(code: ErrorCode, message: string, options: SkillcellErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SkillcellError';
    Object.defineProperty(this, MARKER, { value: true });
    this.code = code;
    this.hint = options.hint ?? errorEntry(code).advice;
    this.diagnostics = options.diagnostics ?? [];
  }

  /** The registry's entry of this error's code. */
  get entry(): ErrorEntry {
    return errorEntry(this.code);
  }

  /** Whether a value is a SkillcellError, of this or of another copy of the package. */
  static isInstance(value: unknown): value is SkillcellError {
    return typeof value === 'object' && value !== null && MARKER in value;
  }
}
