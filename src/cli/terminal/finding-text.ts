import type { ScanFinding } from '../../scan/scan-finding.ts';

/** A finding of a scan on one line, not yet escaped. */
export function findingText({ severity, code, path, line, column, message }: ScanFinding): string {
  const place = [path, line, column].filter((part) => part !== undefined).join(':');
  return `${severity} ${code} ${place}: ${message}`;
}
