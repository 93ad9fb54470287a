import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../runners/owner.ts';
import { syncFolder } from '../durable-file.ts';
import { claimWorkspace, type ClaimedWorkspace } from './claimed-workspace.ts';

/** Workspaces of sessions that ended because they did nothing, as archives in the state folder. */
export interface KeptWorkspaces {
  /** Returns once it is on the disk. @throws SkillcellError `state.write-failed` */
  keep(sessionId: string, archive: Uint8Array): void;
  /** For one session at a time, of whatever process. @throws SkillcellError `session.unknown` where none is kept, or it is claimed */
  claim(sessionId: string): ClaimedWorkspace;
}

/** What is on its way to the disk has a name that begins with its owner. */
const TORN = /^\.(.+)\.part$/;

/** Opens the workspaces of a state folder. */
export function openKeptWorkspaces(stateDir: string): KeptWorkspaces {
  const folder = join(stateDir, 'sessions');
  const nameOf = (sessionId: string): string => `${sessionId}.tar`;
  return {
    keep(sessionId, archive) {
      const temporary = join(folder, `.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}.part`);
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        removeTorn(folder);
        writeDurably(temporary, archive);
        renameSync(temporary, join(folder, nameOf(sessionId)));
        syncFolder(folder);
      } catch (cause) {
        rmSync(temporary, { force: true });
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

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let offset = 0; offset < bytes.length;) offset += writeSync(file, bytes, offset);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes what dead owners were writing when they died. */
function removeTorn(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = parseOwnerName(TORN.exec(name)?.[1] ?? '');
    if (owner !== undefined && isDead(owner)) rmSync(join(folder, name), { force: true });
  }
}
