import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { removeTorn, syncFolder, writeAside } from '../../durable/durable-file.ts';
import { claimedPlace, claimWorkspace, type ClaimedWorkspace } from './claimed-workspace.ts';

/** Workspaces of sessions that ended because they were idle, as archives in the state folder. */
export interface KeptWorkspaces {
  /**
   * Returns once the archive is on the disk. No session can claim it until it is published or its host dies: a resumed session counts its
   * attempts by the recorded results, so the result must come first.
   *
   * @throws SkillcellError `state.write-failed`
   */
  keep(sessionId: string, archive: Uint8Array): UnpublishedWorkspace;
  /** Claims a workspace for one session of one process. @throws SkillcellError `session.unknown` if no workspace is kept, or it is claimed */
  claim(sessionId: string): ClaimedWorkspace;
}

/** A kept workspace of a session without a result yet. */
export interface UnpublishedWorkspace {
  publish(): void;
}

/** Opens the workspaces of a state folder. */
export function openKeptWorkspaces(stateDir: string): KeptWorkspaces {
  const folder = join(stateDir, 'sessions');
  const nameOf = (sessionId: string): string => `${sessionId}.tar`;
  return {
    keep(sessionId, archive) {
      let temporary: string | undefined;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        removeTorn(folder);
        temporary = writeAside(folder, archive);
        const unpublished = claimedPlace(folder, nameOf(sessionId));
        renameSync(temporary, unpublished);
        syncFolder(folder);
        return { publish: () => publish(unpublished, folder, nameOf(sessionId)) };
      } catch (cause) {
        if (temporary !== undefined) rmSync(temporary, { force: true });
        throw new SkillcellError(
          'state.write-failed',
          `Cannot keep the workspace of a session: ${(cause as Error).message}.`,
          { cause },
        );
      }
    },
    claim(sessionId) {
      const claimed = existsSync(folder) ? claimWorkspace(folder, nameOf(sessionId)) : undefined;
      if (claimed !== undefined) return claimed;
      throw new SkillcellError(
        'session.unknown',
        `Cannot resume the session: no workspace of it is kept, or another session has resumed it, got ${sessionId}.`,
      );
    },
  };
}

/** Replaces the archive of an earlier session with this id. */
function publish(unpublished: string, folder: string, name: string): void {
  renameSync(unpublished, join(folder, name));
  syncFolder(folder);
}
