import { DIAGNOSTIC_SEVERITIES, type DiagnosticCode, type OwnCode, type Severity } from './diagnostic-severities.ts';
import type { ErrorCode } from './error-registry.ts';

export type { DiagnosticCode, OwnCode, Severity } from './diagnostic-severities.ts';

/** Place of a finding. `path` is relative to the input; `line` and `column` count from 1. */
export interface DiagnosticPlace {
  path?: string;
  line?: number;
  column?: number;
  /** Full id of the skill, if the reader must find it. */
  skill?: string;
}

/** One finding about an input or a job. */
export interface Diagnostic extends DiagnosticPlace {
  /** Code of the finding; the error code for a job that failed without a result. */
  code: DiagnosticCode | ErrorCode;
  severity: Severity;
  /** For people. */
  message: string;
}

/**
 * Creates a diagnostic with the severity of its code.
 *
 * @param code code of the finding
 * @param message one line for people
 * @param place place of the finding
 * @returns the diagnostic
 */
export function diagnostic(code: OwnCode, message: string, place: DiagnosticPlace = {}): Diagnostic {
  return { code, severity: DIAGNOSTIC_SEVERITIES[code], message, ...place };
}
