import { errorEntry, type ErrorCode, type ErrorEntry } from './error-registry.ts';
import type { Diagnostic } from './diagnostic.ts';

const MARKER = Symbol.for('skillcell.error');

/** Options of {@link SkillcellError}. */
export interface SkillcellErrorOptions {
  cause?: unknown;
  /** Replaces the advice of the registry. */
  hint?: string;
  diagnostics?: Diagnostic[];
}

/**
 * A failure of skillcell, or an input that it cannot accept. Failing user programs are results instead.
 * Messages read "Cannot <action>: <reason>, got <value>."
 *
 * @example
 * ```ts
 * import { createOrchestrator, SkillcellError } from 'skillcell';
 *
 * try {
 *   createOrchestrator({ concurrency: 0 });
 * } catch (error) {
 *   if (!SkillcellError.isInstance(error)) throw error;
 *   console.log(error.code, error.entry.retry);
 * }
 * // prints: options.invalid false
 * ```
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

  /** The registry entry of this error's code. */
  get entry(): ErrorEntry {
    return errorEntry(this.code);
  }

  /**
   * The JSON form. It leaves out the stack and the cause, which may name paths of the host.
   *
   * @example
   * ```ts
   * import { SkillcellError } from 'skillcell';
   *
   * const error = new SkillcellError('file.unreadable', 'Cannot read the table: it is empty, got 0 bytes.');
   * const { code, message } = error.toJSON();
   * console.log(code, message);
   * // prints: file.unreadable Cannot read the table: it is empty, got 0 bytes.
   * ```
   */
  toJSON(): Pick<SkillcellError, 'name' | 'code' | 'message' | 'hint' | 'diagnostics'> {
    const { name, code, message, hint, diagnostics } = this;
    return { name, code, message, hint, diagnostics };
  }

  /**
   * Checks for a SkillcellError of this or of another copy of the package.
   *
   * @example
   * ```ts
   * import { SkillcellError } from 'skillcell';
   *
   * const error: unknown = new SkillcellError('file.unreadable', 'Cannot read the table: it is empty, got 0 bytes.');
   * console.log(SkillcellError.isInstance(error), SkillcellError.isInstance(new Error('another')));
   * // prints: true false
   * ```
   */
  static isInstance(value: unknown): value is SkillcellError {
    return typeof value === 'object' && value !== null && MARKER in value;
  }
}
