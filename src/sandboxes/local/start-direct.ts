import { mkdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileSystemFault } from '../../durable/file-system-fault.ts';
import { flattenTree } from '../../protocol/files/flatten-tree.ts';
import type { RuntimeBundle } from '../runtime-bundle.ts';
import type { Sandbox, SandboxSpec } from '../runner.ts';
import { createControlGroup, type ControlGroup } from './control-group.ts';
import { unenforcedLimits } from './limit-enforcement.ts';
import { killMarkedProcesses } from './marked-processes.ts';
import { requireInterpreter } from './require-interpreter.ts';
import { localSandbox } from './local-sandbox.ts';
import { startProcess } from './start-process.ts';

const MIB = 1024 * 1024;

/** Beginning of the names of all folders that jobs at level none work in. */
export const WORK_FOLDER_PREFIX = 'skillcell-';

/** Starts a sandbox at level none: a child process with a folder of its own. Development only. */
export async function startDirect(spec: SandboxSpec, bundle: RuntimeBundle, name: string): Promise<Sandbox> {
  requireInterpreter(spec.language);
  const root = join(tmpdir(), `${WORK_FOLDER_PREFIX}${name}`);
  const temporary = temporaryBeside(root);
  let group: ControlGroup | null = null;
  try {
    await makeOwn(root);
    await makeOwn(temporary);
    group = createControlGroup(name, spec.limits);
    await mkdir(join(root, 'workspace', 'out'), { recursive: true });
    await mkdir(join(root, 'skills'));
    await mkdir(join(root, 'value'));
    await mkdir(join(root, 'node_modules'));
    await symlink(join(bundle.folder, 'languages', 'javascript', 'guest'), join(root, 'node_modules', 'skillcell'));
    const command = [
      process.execPath,
      join(bundle.folder, 'entry.cjs'),
      '--level=none',
      `--root=${root}`,
      `--temporary=${temporary}`,
      `--language=${spec.language}`,
      `--marker=${name}`,
      `--memory-mib=${spec.limits.memoryMib}`,
      `--memory-group=${group?.memoryFolder ?? ''}`,
    ];
    const env = {
      PATH: `/usr/local/bin:/usr/bin:/bin:${dirname(process.execPath)}`,
      LANG: 'C.UTF-8',
      HOME: join(root, 'workspace'),
    };
    const child = startProcess(command, { group, fileBytes: spec.limits.workspaceMib * MIB, env });
    return localSandbox({
      isolation: 'none',
      child,
      group,
      diagnostics: unenforcedLimits('none', group !== null),
      async cleanUp() {
        // The entry has ended them unless it was itself killed, by the program or for want of memory.
        if (group === null && process.platform === 'linux') await killMarkedProcesses(name);
        await removeJobFolders(root);
      },
    });
  } catch (error) {
    group?.remove();
    await removeJobFolders(root);
    throw error;
  }
}

/** Of this job only: a folder of that name would be another's. */
async function makeOwn(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    throw fileSystemFault(error) ?? error;
  }
}

/**
 * The temporary folder of a job at level none, by the last part of the job's name: an address of a socket has room for 107 bytes, of which
 * the whole name would leave too few.
 */
function temporaryBeside(root: string): string {
  return join(dirname(root), `${WORK_FOLDER_PREFIX}${basename(root).split('-').at(-1)}`);
}

/** Removes what a job at level none worked in. The folder that names its owner goes last: a sweep finds the other one by it. */
export async function removeJobFolders(root: string): Promise<void> {
  await removeTree(temporaryBeside(root));
  await removeTree(root);
}

/** Removes a folder that user code wrote, where it is there: never through a link, and past folders that were made unreadable or lie very deep. */
async function removeTree(folder: string): Promise<void> {
  // First: a removal that fails at one folder goes on with those beside it, and under the walk.
  for (const _ of flattenTree(folder)) await setImmediate();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
