/** How serious a diagnostic is: `error` = not loaded or not accepted, `warning` = changed or ignored, `info` = worth knowing. */
export type Severity = 'error' | 'warning' | 'info';

/** One finding about an input. `path` is relative to what was read, `line` counts from 1. */
export interface Diagnostic {
  code: string;
  severity: Severity;
  message: string;
  path?: string;
  line?: number;
}
