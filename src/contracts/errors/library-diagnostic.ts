import type { Diagnostic, DiagnosticPlace } from './diagnostic.ts';
import { LIBRARY_SEVERITIES, type LibraryCode } from './library-severities.ts';

/** Creates a diagnostic of the skill library with the severity of its code. */
export function libraryDiagnostic(code: LibraryCode, message: string, place: DiagnosticPlace = {}): Diagnostic {
  return { code, severity: LIBRARY_SEVERITIES[code], message, ...place };
}
