import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { removeTorn, syncFolder, writeAside } from '../durable-file.ts';
import { claimWorkspace, type ClaimedWorkspace } from './claimed-workspace.ts';

/** Workspaces of sessions that ended because they did nothing, as archives in the state folder. */
export interface KeptWorkspaces {
  /** Returns once it is on the disk. @throws SkillcellError `state.write-failed` */
  keep(sessionId: string, archive: Uint8Array): void;
  /** For one session at a time, of whatever process. @throws SkillcellError `session.unknown` where none is kept, or it is claimed */
  claim(sessionId: string): ClaimedWorkspace;
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
        renameSync(temporary, join(folder, nameOf(sessionId)));
        syncFolder(folder);
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
        `Cannot resume the session: no workspace of it is kept, or another session goes on with it, got ${sessionId}.`,
      );
    },
  };
}
