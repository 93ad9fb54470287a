import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { LibraryCode } from '../../contracts/errors/library-severities.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Diagnostics of an archive that is refused: `zip.`, `tar.` or `archive.`, and what is wrong. */
export type ArchiveFault = Extract<LibraryCode, `zip.${string}` | `tar.${string}` | 'archive.size' | 'archive.skill'>;

/** What an archive is refused for, before anything of it is written. Whoever knows the archive's name makes an error of it. */
export class ArchiveRefusal extends Error {
  readonly fault: ArchiveFault;

  constructor(fault: ArchiveFault, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = 'ArchiveRefusal';
    this.fault = fault;
  }
}

/** The error of an archive of that name; any other error stays what it is. */
export function archiveRefused(error: unknown, shown: string, action = 'read the archive'): unknown {
  if (!(error instanceof ArchiveRefusal)) return error;
  const { fault, message, cause } = error;
  return new SkillcellError('archive.refused', `Cannot ${action}: ${message}; nothing is written, got ${shown}.`, {
    diagnostics: [libraryDiagnostic(fault, `The archive is refused: ${message}.`, { path: shown })],
    ...(cause === undefined ? {} : { cause }),
  });
}
