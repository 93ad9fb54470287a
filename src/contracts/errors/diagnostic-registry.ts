import {
  DIAGNOSTIC_SEVERITIES,
  type DiagnosticCode,
  type DiagnosticText,
  type Severity,
} from './diagnostic-severities.ts';
import { LIBRARY_SEVERITIES } from './library-severities.ts';
import { LIBRARY_TEXTS } from './diagnostic-texts/library.ts';
import { JOB_TEXTS } from './diagnostic-texts/jobs.ts';
import { SKILL_FILE_TEXTS } from './diagnostic-texts/skill-files.ts';
import { SKILL_USE_TEXTS } from './diagnostic-texts/skill-use.ts';

/** Severity and texts of a diagnostic code. */
export interface DiagnosticEntry extends DiagnosticText {
  severity: Severity;
}

const TEXTS: Readonly<Record<DiagnosticCode, DiagnosticText>> = {
  ...SKILL_FILE_TEXTS,
  ...SKILL_USE_TEXTS,
  ...JOB_TEXTS,
  ...LIBRARY_TEXTS,
};

/** The closed list of diagnostic codes of skills and jobs. `docs/diagnostics.md` is generated from it. */
export const DIAGNOSTIC_REGISTRY: Readonly<Record<DiagnosticCode, DiagnosticEntry>> = Object.fromEntries(
  Object.entries({ ...DIAGNOSTIC_SEVERITIES, ...LIBRARY_SEVERITIES }).map(([code, severity]) => [
    code,
    { severity, ...TEXTS[code as DiagnosticCode] },
  ]),
) as Record<DiagnosticCode, DiagnosticEntry>;
