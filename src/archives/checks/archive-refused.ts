import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { LibraryCode } from '../../contracts/errors/library-severities.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Diagnostic codes of a refused archive. */
export type ArchiveFault = Extract<LibraryCode, `zip.${string}` | `tar.${string}` | 'archive.size' | 'archive.skill'>;

/** Refusal of an archive, before any file is written. {@link archiveRefused} adds the name of the archive. */
export class ArchiveRefusal extends Error {
  readonly fault: ArchiveFault;

  constructor(fault: ArchiveFault, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = 'ArchiveRefusal';
    this.fault = fault;
  }
}

/** Converts a refusal to an error with the name of the archive; returns any other error unchanged. */
export function archiveRefused(error: unknown, shown: string, action = 'read the archive'): unknown {
  if (!(error instanceof ArchiveRefusal)) return error;
  const { fault, message, cause } = error;
  return new SkillcellError('archive.refused', `Cannot ${action} ${shown}: ${message}; nothing is written.`, {
    diagnostics: [libraryDiagnostic(fault, `The archive is refused: ${message}.`, { path: shown })],
    ...(cause === undefined ? {} : { cause }),
  });
}
