import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownerOf } from '../outside-view.ts';
import type { NetworkHost } from './network.ts';

/** Settings of a client. */
export interface ClusterClientSettings {
  url: string;
  /** Name of this process, which begins the ids of its jobs. */
  life: string;
  seed: number;
  leaseMs: number;
  jobsAtOnce: number;
  /** Folder of the histories. */
  histories: string;
  /** Folder for the artifacts of jobs. */
  outputs: string;
}

/** Settings of a worker. */
export interface ClusterWorkerSettings {
  url: string;
  plain: true;
  name: string;
  slots: number;
  runner: ClusterRunner;
}

/** What starts the sandboxes of workers: the local runner at level namespace, or Docker. */
export type ClusterRunner = 'local' | 'docker';

/** A process of the cluster. */
export interface ClusterProcess {
  /** The owner by the process table. */
  readonly owner: string;
  signal(signal: NodeJS.Signals): void;
  /** Its exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
}

const REDIS = '/usr/bin/redis-server';
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAMS: Record<'client' | 'worker', URL> = {
  client: new URL('cluster-client.ts', import.meta.url),
  worker: new URL('../../fixtures/fleet/worker-program.ts', import.meta.url),
};

/** Folder of the runtimes that processes of root start sandboxes from. */
const RUNTIMES = '/var/cache/skillcell';
/** Shows a folder in the place of another one, in file systems of its own, and becomes the program. */
const IN_PLACE = [
  ...['/usr/bin/unshare', '--mount', '/bin/sh', '-c'],
  ...['mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh'],
];

/** Surroundings of a process. */
export interface ProcessPlace {
  /** Its output goes to the end of this file. */
  log: string;
  /** Variables beside those of this process. */
  env: Record<string, string>;
  /** The folder that it finds as that of its runtimes. @default that of this machine */
  runtimes?: string | undefined;
  /** The checkout that it is started from. @default this one */
  checkout?: string | undefined;
}

/** Starts a client or a worker on a host. */
export function startProgram(
  host: NetworkHost,
  program: keyof typeof PROGRAMS,
  settings: ClusterClientSettings | ClusterWorkerSettings,
  place: ProcessPlace,
): ClusterProcess {
  const path = join(place.checkout ?? CHECKOUT, relative(CHECKOUT, fileURLToPath(PROGRAMS[program])));
  const { runner = 'local', ...given } = settings as Partial<ClusterWorkerSettings>;
  const command = [process.execPath, path, JSON.stringify(given), runner];
  const { runtimes } = place;
  if (runtimes === undefined) return startProcess(host, command, place);
  mkdirSync(RUNTIMES, { recursive: true });
  return startProcess(host, [...IN_PLACE, runtimes, RUNTIMES, ...command], place);
}

/** Starts a Redis that keeps nothing on disk. */
export function startRedis(host: NetworkHost, folder: string, place: ProcessPlace): ClusterProcess {
  const args = ['--bind', host.address, '--protected-mode', 'no', '--save', '', '--appendonly', 'no', '--dir', folder];
  return startProcess(host, [REDIS, ...args], place);
}

/** Starts any program on a host. */
export function startProcess(
  { run: [enter, ...where] }: NetworkHost,
  command: readonly string[],
  { log, env }: ProcessPlace,
): ClusterProcess {
  const output = openSync(log, 'a');
  // It becomes the program, with the same process id.
  const child: ChildProcess = spawn(enter, [...where, ...command], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  });
  closeSync(output);
  const { pid = 0 } = child;
  const owner = ownerOf(pid);
  if (owner === undefined) throw new Error(`A process did not start: ${command.join(' ')}`);
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { owner, ended, signal: (signal) => void child.kill(signal) };
}
