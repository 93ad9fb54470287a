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

/** Name prefix of all folders of jobs at level none. */
export const WORK_FOLDER_PREFIX = 'skillcell-';

/** Starts a sandbox at level none: a child process with its own folder. Only for development. */
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
        // Usually the entry has ended them, unless it was itself killed by the program or for lack of memory.
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

/** Creates a folder of this job. An existing folder would belong to another job, so it is an error. */
async function makeOwn(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    throw fileSystemFault(error) ?? error;
  }
}

/**
 * The temporary folder of a job at level none. Its name has only the last part of the job's name: a socket address has room for 107 bytes,
 * and the whole name would leave too few.
 */
function temporaryBeside(root: string): string {
  return join(dirname(root), `${WORK_FOLDER_PREFIX}${basename(root).split('-').at(-1)}`);
}

/** Removes the folders of a job at level none. The folder with the owner's name goes last, because a sweep finds the other folder by it. */
export async function removeJobFolders(root: string): Promise<void> {
  await removeTree(temporaryBeside(root));
  await removeTree(root);
}

/** Removes a folder of user code, if it exists. Follows no link, and handles unreadable and very deep folders. */
async function removeTree(folder: string): Promise<void> {
  // Flatten first: `rm` would fail at one folder while it keeps removing others under this walk.
  for (const _ of flattenTree(folder)) await setImmediate();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
