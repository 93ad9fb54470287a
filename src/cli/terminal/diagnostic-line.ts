import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { escapeLine } from './escape-controls.ts';

/** A finding on one line; names of files and texts of authors are escaped. */
export function diagnosticLine({ severity, code, message, path, line, column }: Diagnostic): string {
  const place = [path ?? '', line, column].filter((part) => part !== undefined).join(':');
  return escapeLine(`${severity} ${code}${path === undefined ? '' : ` ${place}`}: ${message}`);
}
