import type { TextPlace } from '../skills/text/text-place.ts';
import { SCAN_RULES, type ScanCode, type ScanSeverity } from './scan-rules.ts';

/** Something in a skill that its user should check. */
export interface ScanFinding {
  code: ScanCode;
  severity: ScanSeverity;
  /** Path below the folder that was scanned. */
  path: string;
  /** From 1; absent if the finding is about the whole file. */
  line?: number;
  /** From 1, by code point. */
  column?: number;
  /** One line for people. It may hold text of the skill, but never a text that looks like a secret. */
  message: string;
  /** One line. */
  advice: string;
}

/** A finding within one file, before its place is known. */
export interface FoundInFile {
  code: ScanCode;
  message: string;
  /** Offset in the text of the file; absent for the file as a whole. */
  at?: number;
}

/** A finding with the severity and the advice of its code. */
export function scanFinding(
  code: ScanCode,
  message: string,
  place: { path: string } & Partial<TextPlace>,
): ScanFinding {
  const { severity, advice } = SCAN_RULES[code];
  return { code, severity, ...place, message, advice };
}
