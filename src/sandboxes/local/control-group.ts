import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SandboxUsage } from '../../contracts/jobs/usage.ts';
import { readControlGroupMemory, readControlGroupUsage } from '../../protocol/control-group-usage.ts';
import type { SandboxLimits } from '../runner.ts';
import { sandboxMemoryMib, SUPERVISOR_PIDS } from '../sandbox-sizes.ts';

const MIB = 1024 * 1024;
const ROOT = '/sys/fs/cgroup';
const FOLDER = 'skillcell';
const CPU_PERIOD_US = 100_000;

/** The control group of one sandbox, in one folder (version 2) or one folder per controller (version 1). */
export interface ControlGroup {
  /**
   * Files to which a single-threaded process writes `0` in order to enter. Version 1 uses `tasks`, which moves a single thread without
   * the lock over all forks of the machine. That lock waits for every processor: 5 to 20 ms for the four groups instead of 0.2 ms.
   */
  entrances: string[];
  /** Folder with its memory counters. */
  memoryFolder: string;
  usage(): SandboxUsage;
  /** Current memory in bytes; null after the removal of the group. */
  memoryBytes(): number | null;
  /** Kills all processes in the group. */
  kill(): void;
  /** Removes the group, which must be empty. Returns true if it no longer exists. */
  remove(): boolean;
}

interface Layout {
  /** Version 2 has one folder for all controllers. */
  folders: { memory: string; pids: string; cpu: string; cpuacct: string };
  unified: boolean;
}

let known: Layout | null | undefined;

/** The parent folders of groups that this process may create, or `null` if it may not. Checked once. */
export function controlGroupLayout(): Layout | null {
  known ??= findLayout();
  return known;
}

function findLayout(): Layout | null {
  const unified = existsSync(join(ROOT, 'cgroup.controllers'));
  const at = (controller: string): string => (unified ? join(ROOT, FOLDER) : join(ROOT, controller, FOLDER));
  const folders = { memory: at('memory'), pids: at('pids'), cpu: at('cpu'), cpuacct: at('cpuacct') };
  try {
    for (const folder of new Set(Object.values(folders))) {
      makeFolder(folder);
      // Another user may have created it.
      accessSync(folder, constants.W_OK);
    }
    if (unified) {
      writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+memory +pids +cpu');
      writeFileSync(join(folders.memory, 'cgroup.subtree_control'), '+memory +pids +cpu');
    }
    return { folders, unified };
  } catch {
    // Not writable: an ordinary user, or a container with a read-only tree. Other means then enforce the limits.
    return null;
  }
}

/** Not `recursive`: where no tree is mounted, Node then tries for ever to make folders that the kernel's own file system refuses. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Creates a group with the limits of a sandbox: job, workspace and supervisor together. */
export function createControlGroup(name: string, limits: SandboxLimits): ControlGroup | null {
  const layout = controlGroupLayout();
  if (layout === null) return null;
  const folder = (controller: keyof Layout['folders']): string => join(layout.folders[controller], name);
  const all = [...new Set([folder('memory'), folder('pids'), folder('cpu'), folder('cpuacct')])];
  try {
    for (const path of all) mkdirSync(path);
    setLimits(layout.unified, folder, limits);
  } catch (error) {
    destroyControlGroup(name);
    throw error;
  }
  return {
    entrances: all.map((path) => join(path, layout.unified ? 'cgroup.procs' : 'tasks')),
    memoryFolder: folder('memory'),
    usage: () =>
      readControlGroupUsage({
        unified: layout.unified,
        memory: folder('memory'),
        pids: folder('pids'),
        cpu: folder('cpu'),
        cpuacct: folder('cpuacct'),
      }),
    memoryBytes: () => readControlGroupMemory({ unified: layout.unified, memory: folder('memory') }),
    kill: () => all.forEach(killMembers),
    remove: () => all.map(removeGroup).every(Boolean),
  };
}

function setLimits(
  unified: boolean,
  folder: (controller: keyof Layout['folders']) => string,
  limits: SandboxLimits,
): void {
  const memory = `${sandboxMemoryMib(limits) * MIB}`;
  const quota = Math.max(1_000, Math.round(limits.cpus * CPU_PERIOD_US));
  const set = (controller: keyof Layout['folders'], file: string, value: string): void =>
    writeFileSync(join(folder(controller), file), value);
  set('pids', 'pids.max', `${limits.pids + SUPERVISOR_PIDS}`);
  if (unified) {
    set('memory', 'memory.max', memory);
    setWhereThere(join(folder('memory'), 'memory.swap.max'), '0');
    set('cpu', 'cpu.max', `${quota} ${CPU_PERIOD_US}`);
  } else {
    set('memory', 'memory.limit_in_bytes', memory);
    setWhereThere(join(folder('memory'), 'memory.memsw.limit_in_bytes'), memory);
    set('cpu', 'cpu.cfs_period_us', `${CPU_PERIOD_US}`);
    set('cpu', 'cpu.cfs_quota_us', `${quota}`);
  }
}

/** Names of all existing groups, of any process. */
export function listControlGroups(): string[] {
  const layout = controlGroupLayout();
  if (layout === null) return [];
  const names = new Set<string>();
  for (const folder of new Set(Object.values(layout.folders))) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) names.add(entry.name);
  }
  return [...names];
}

/** Kills all processes in a group by name, and removes the group. */
export function destroyControlGroup(name: string): boolean {
  const layout = controlGroupLayout();
  if (layout === null) return false;
  return [...new Set(Object.values(layout.folders))]
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => {
      killMembers(path);
      return removeGroup(path);
    })
    .every(Boolean);
}

function killMembers(path: string): void {
  for (const pid of membersOf(path)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
}

/** A member outside of this process namespace is listed as 0, and a kill of 0 would hit this process. */
function membersOf(path: string): number[] {
  try {
    return readFileSync(join(path, 'cgroup.procs'), 'latin1')
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    // The group is gone.
    return [];
  }
}

function removeGroup(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    // The group is busy until its last process is reaped; the caller tries again.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function setWhereThere(path: string, value: string): void {
  if (existsSync(path)) writeFileSync(path, value);
}
