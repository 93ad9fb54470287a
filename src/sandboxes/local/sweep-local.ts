import { existsSync, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDead, parseOwnerName } from '../../durable/owner.ts';
import type { SweepReport } from '../runner.ts';
import { destroyControlGroup, listControlGroups } from './control-group.ts';
import { markedProcesses } from './marked-processes.ts';
import { removeJobFolders, WORK_FOLDER_PREFIX } from './start-direct.ts';

/**
 * Removes the marked processes, control groups and work folders of local sandboxes of dead owners. Other hosts may sweep at the same
 * time.
 */
export async function sweepLocal(signal?: AbortSignal): Promise<SweepReport> {
  const report: SweepReport = { removed: [], failed: [] };
  const stopped = (): boolean => signal?.aborted === true;
  if (process.platform === 'linux' && !stopped()) {
    killMarkedProcesses(report);
    await destroyGroups(report, stopped);
  }
  for (const name of await readdir(tmpdir())) {
    if (stopped()) break;
    if (!name.startsWith(WORK_FOLDER_PREFIX) || !ownedByDead(name.slice(WORK_FOLDER_PREFIX.length))) continue;
    try {
      requireOwn(join(tmpdir(), name));
      await removeJobFolders(join(tmpdir(), name));
      report.removed.push({ kind: 'folder', name });
    } catch (error) {
      if (!existsSync(join(tmpdir(), name))) report.removed.push({ kind: 'folder', name });
      else report.failed.push({ kind: 'folder', name, reason: String(error) });
    }
  }
  return report;
}

/** Only own folders are removed: the removal uses paths, and another user could replace a folder in the meantime. */
function requireOwn(folder: string): void {
  const status = lstatSync(folder);
  if (!status.isDirectory()) throw new Error('it is not a folder');
  if (status.uid !== process.geteuid?.()) throw new Error('it belongs to another user');
}

function ownedByDead(name: string): boolean {
  const owner = parseOwnerName(name);
  return owner !== undefined && isDead(owner);
}

function killMarkedProcesses(report: SweepReport): void {
  for (const pid of markedProcesses(ownedByDead)) {
    const name = `${pid}`;
    try {
      process.kill(pid, 'SIGKILL');
      report.removed.push({ kind: 'process', name });
    } catch (error) {
      // A process that has ended in the meantime counts as success.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
        report.failed.push({ kind: 'process', name, reason: String(error) });
      }
    }
  }
}

async function destroyGroups(report: SweepReport, stopped: () => boolean): Promise<void> {
  for (const name of listControlGroups().filter(ownedByDead)) {
    if (stopped()) return;
    let gone = false;
    for (let tries = 0; tries < 50 && !gone; tries += 1) {
      gone = destroyControlGroup(name);
      if (!gone) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (gone) report.removed.push({ kind: 'cgroup', name });
    else report.failed.push({ kind: 'cgroup', name, reason: 'it still holds processes' });
  }
}
