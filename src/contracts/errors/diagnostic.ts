import { DIAGNOSTIC_SEVERITIES, type DiagnosticCode, type OwnCode, type Severity } from './diagnostic-severities.ts';
import type { ErrorCode } from './error-registry.ts';

export type { DiagnosticCode, OwnCode, Severity } from './diagnostic-severities.ts';

/** Where a finding is: `path` relative to what was read, `line` and `column` from 1. */
export interface DiagnosticPlace {
  path?: string;
  line?: number;
  column?: number;
  /** Full id of the skill that it is about, where somebody has to find that. */
  skill?: string;
}

/** One finding about an input or a job. */
export interface Diagnostic extends DiagnosticPlace {
  /** What was found; a job that we failed has the code of its error here. */
  code: DiagnosticCode | ErrorCode;
  severity: Severity;
  /** For people. */
  message: string;
}

/**
 * Makes a diagnostic whose severity is that of its code.
 *
 * @param code what was found
 * @param message one line for people
 * @param place where it was found
 * @returns the diagnostic
 */
export function diagnostic(code: OwnCode, message: string, place: DiagnosticPlace = {}): Diagnostic {
  return { code, severity: DIAGNOSTIC_SEVERITIES[code], message, ...place };
}
