import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type Docker from 'dockerode';
import { listControlGroups } from '../../src/sandboxes/local/control-group.ts';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import { WORK_FOLDER_PREFIX } from '../../src/sandboxes/local/start-direct.ts';
import { LABEL } from '../../src/sandboxes/docker/container-options.ts';

/** The owner's sandboxes as the machine, the file system and the engine show them. The owner itself is not asked. */
export interface OutsideView {
  /** Processes in the owner's control groups or with its mark in their environment, and the living processes of `family`. */
  processes(owner: string, family?: readonly SeenProcess[]): string[];
  /** The same with name, state and waiting place of each thread, for processes that should have ended. */
  threads(owner: string, family?: readonly SeenProcess[]): string[];
  /** Running containers of the owner. */
  runningContainers(owner: string): Promise<string[]>;
  /** All leftovers of an owner: processes, control groups, folders, containers in any state. */
  leftovers(owner: string): Promise<string[]>;
}

/** A process. Its start time distinguishes it from a later process with the same id. */
export interface SeenProcess {
  pid: number;
  startTime: string;
}

/** Looks at this machine, and at an engine if one is given. */
export function outsideView(temporary: string, engine: Docker | undefined): OutsideView {
  const containers = async (owner: string, all: boolean): Promise<string[]> => {
    if (engine === undefined) return [];
    const found = await engine.listContainers({ all, filters: { label: [`${LABEL.owner}=${owner}`] } });
    return found.map(({ Names, State }) => `container ${Names[0] ?? ''} (${State})`);
  };
  const find = (owner: string, family: readonly SeenProcess[] = []): number[] => {
    const known = new Map(family.map(({ pid, startTime }) => [pid, startTime]));
    return livingProcesses()
      .filter(
        ({ pid, startTime }) =>
          known.get(pid) === startTime ||
          read(pid, 'cgroup').includes(`/skillcell/${owner}`) ||
          read(pid, 'environ').includes(`SKILLCELL_JOB_MARK=${owner}`),
      )
      .map(({ pid }) => pid);
  };
  const processes = (owner: string, family?: readonly SeenProcess[]): string[] => find(owner, family).map(shown);
  return {
    processes,
    threads: (owner, family) => find(owner, family).map((pid) => `${shown(pid)}: ${threadsOf(pid).join(', ')}`),
    runningContainers: (owner) => containers(owner, false),
    async leftovers(owner) {
      const groups = listControlGroups().filter((name) => name.startsWith(owner));
      const folders = readdirSync(temporary).filter((name) => name.startsWith(`${WORK_FOLDER_PREFIX}${owner}`));
      return [
        ...processes(owner),
        ...groups.map((name) => `control group ${name}`),
        ...folders.map((name) => `folder ${name}`),
        ...(await containers(owner, true)),
      ];
    },
  };
}

/** The owner name of a process, from the process table; undefined when it has ended. */
export function ownerOf(pid: number): string | undefined {
  const process = livingProcesses().find((row) => row.pid === pid);
  return process && ownerName({ ...currentOwner(), pid, startTime: process.startTime });
}

/** The current processes below a process, at any depth. */
export function familyOf(root: number): SeenProcess[] {
  const all = livingProcesses();
  const found = new Set([root]);
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => pid !== root && found.has(pid)).map(({ pid, startTime }) => ({ pid, startTime }));
}

/** Those of the given processes that still live. */
export function stillLiving(processes: readonly SeenProcess[]): string[] {
  const living = new Map(livingProcesses().map(({ pid, startTime }) => [pid, startTime]));
  return processes.filter(({ pid, startTime }) => living.get(pid) === startTime).map(({ pid }) => shown(pid));
}

/** The first child of a process in `/proc`. */
export function childOf(parent: number): SeenProcess | undefined {
  return livingProcesses().find((row) => row.parent === parent);
}

/** All processes except zombies, which only wait to be reaped. */
function livingProcesses(): (SeenProcess & { parent: number })[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const stat = read(Number(name), 'stat');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent] = fields;
    if (stat === '' || state === 'Z' || state === 'X') return [];
    return [{ pid: Number(name), parent: Number(parent), startTime: fields[19] ?? '' }];
  });
}

function shown(pid: number): string {
  return `process ${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 240)}`;
}

function threadsOf(pid: number): string[] {
  const folder = `/proc/${pid}/task`;
  const threads = existsSync(folder) ? readdirSync(folder) : [];
  return threads.map((thread) => {
    const [name, status, place] = ['comm', 'status', 'wchan'].map((file) => read(pid, `task/${thread}/${file}`).trim());
    return `${name} ${/^State:\s+(\S)/m.exec(status ?? '')?.[1]} ${place}`;
  });
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // It ended after the listing.
    return '';
  }
}
