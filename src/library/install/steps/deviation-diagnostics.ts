import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import type { Deviation } from '../../lock/compare-locked.ts';

const WORDS = { changed: 'has changed', missing: 'is missing', added: 'is not locked' } as const;

/** One diagnostic for each file that deviates from the lock. */
export function deviationDiagnostics(rows: readonly Deviation[]): Diagnostic[] {
  return rows.map(({ id, path, state, reason }) =>
    libraryDiagnostic(`lock.${state}`, `The file ${WORDS[state]}${reason === undefined ? '' : ` (${reason})`}.`, {
      path: `${id}/${path}`,
    }),
  );
}
