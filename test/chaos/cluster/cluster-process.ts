import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
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

/** A process of the cluster. */
export interface ClusterProcess {
  /** The owner by the process table. */
  readonly owner: string;
  signal(signal: NodeJS.Signals): void;
  /** Its exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
}

const REDIS = '/usr/bin/redis-server';
const PROGRAMS: Record<'client' | 'worker', string> = {
  client: fileURLToPath(new URL('cluster-client.ts', import.meta.url)),
  worker: fileURLToPath(new URL('../../fixtures/fleet/worker-program.ts', import.meta.url)),
};

/** Starts a client or a worker on a host. Its output goes to the end of a log. */
export function startProgram(
  host: NetworkHost,
  program: keyof typeof PROGRAMS,
  settings: ClusterClientSettings | { url: string; plain: true; name: string; slots: number },
  { log, temporary }: { log: string; temporary: string },
): ClusterProcess {
  const command = [process.execPath, PROGRAMS[program], JSON.stringify(settings)];
  return startProcess(host, command, { log, env: { ...process.env, TMPDIR: temporary } });
}

/** Starts a Redis that keeps nothing on disk. */
export function startRedis(host: NetworkHost, folder: string, log: string): ClusterProcess {
  const args = ['--bind', host.address, '--protected-mode', 'no', '--save', '', '--appendonly', 'no', '--dir', folder];
  return startProcess(host, [REDIS, ...args], { log, env: process.env });
}

function startProcess(
  { run: [enter, ...where] }: NetworkHost,
  command: readonly string[],
  { log, env }: { log: string; env: NodeJS.ProcessEnv },
): ClusterProcess {
  const output = openSync(log, 'a');
  // It becomes the program, with the same process id.
  const child: ChildProcess = spawn(enter, [...where, ...command], { stdio: ['ignore', output, output], env });
  closeSync(output);
  const { pid = 0 } = child;
  const owner = ownerOf(pid);
  if (owner === undefined) throw new Error(`A process did not start: ${command.join(' ')}`);
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { owner, ended, signal: (signal) => void child.kill(signal) };
}
