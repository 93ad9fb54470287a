import type { Diagnostic, DiagnosticPlace } from './diagnostic.ts';
import { LIBRARY_SEVERITIES, type LibraryCode } from './library-severities.ts';

/** Makes a diagnostic of what is found where skills come from, with the severity of its code. */
export function libraryDiagnostic(code: LibraryCode, message: string, place: DiagnosticPlace = {}): Diagnostic {
  return { code, severity: LIBRARY_SEVERITIES[code], message, ...place };
}
