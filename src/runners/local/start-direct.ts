import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { flattenTree } from '../../protocol/flatten-tree.ts';
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
  const root = await mkdtemp(join(tmpdir(), `${WORK_FOLDER_PREFIX}${name}-`));
  let group: ControlGroup | null = null;
  try {
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
      `--language=${spec.language}`,
      `--marker=${name}`,
      `--memory-mib=${spec.limits.memoryMib}`,
      `--memory-group=${group?.memoryFolder ?? ''}`,
    ];
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: join(root, 'workspace') };
    const child = startProcess(command, { group, fileBytes: spec.limits.workspaceMib * MIB, env });
    return localSandbox({
      isolation: 'none',
      child,
      group,
      diagnostics: unenforcedLimits('none', group !== null),
      async cleanUp() {
        // The entry has ended them unless it was itself killed, by the program or for want of memory.
        if (group === null && process.platform === 'linux') await killMarkedProcesses(name);
        await removeTree(root);
      },
    });
  } catch (error) {
    group?.remove();
    await removeTree(root);
    throw error;
  }
}

/** Removes a folder that user code wrote: never through a link, and past folders that were made unreadable or lie very deep. */
export async function removeTree(folder: string): Promise<void> {
  // First: a removal that fails at one folder goes on with those beside it, and under the walk.
  for (const _ of flattenTree(folder)) await setImmediate();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
