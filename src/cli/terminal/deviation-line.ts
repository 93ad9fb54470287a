import type { Deviation } from '../../library/lock/compare-locked.ts';
import { escapeLine } from './escape-controls.ts';

/** A file that differs from the lock, on one line. */
export function deviationLine({ id, path, state, reason }: Deviation): string {
  return escapeLine(`${state} ${id} ${path}${reason === undefined ? '' : ` (${reason})`}`);
}
