import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnCli } from '../../fixtures/spawn-cli.ts';
import { familyOf, ownerOf, type SeenProcess } from '../outside-view.ts';

/** Where a service is started, again and again. */
export interface ServedPlace {
  /** State folder. */
  folder: string;
  port: number;
  /** Address of PostgreSQL; undefined for SQLite. */
  databaseUrl: string | undefined;
  /** Folder for temporary files of the service. */
  temporary: string;
}

/** A process of `skillcell serve`, as the referee knows it. */
export interface ServedHost {
  /** The owner by the process table. */
  readonly owner: string;
  /** Resolves when the service answers that it is ready; false if it has ended before. */
  ready(): Promise<boolean>;
  /** Asks it to end. */
  terminate(): void;
  /** Kills the process itself, and returns the processes below it. */
  kill(): SeenProcess[];
  /** Its exit code, or null when it was killed. */
  readonly ended: Promise<number | null>;
  /** The text on its standard error. */
  complaint(): string;
}

/** Starts the service. */
export async function startServedHost({ folder, port, databaseUrl, temporary }: ServedPlace): Promise<ServedHost> {
  const flags = ['--port', String(port), '--state', folder, '--runner', 'local', '--isolation', 'none', '--drain', '1'];
  const database = databaseUrl === undefined ? [] : ['--database', databaseUrl];
  const child = spawnCli(['serve', ...flags, ...database], { env: { TMPDIR: temporary } });
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-20_000)));
  child.stdout?.resume();
  let isOver = false;
  const ended = once(child, 'close').then(([code]) => {
    isOver = true;
    return code as number | null;
  });
  const pid = pidOf(child);
  const owner = ownerOf(pid);
  if (owner === undefined) throw new Error(`The service did not start: ${complaint}`);
  return {
    owner,
    ended,
    complaint: () => complaint,
    async ready() {
      while (!isOver) {
        if (await isReady(port)) return true;
        await pause(10);
      }
      return false;
    },
    terminate: () => void process.kill(pid, 'SIGTERM'),
    kill() {
      const family = familyOf(pid);
      if (!isOver) process.kill(pid, 'SIGKILL');
      return family;
    },
  };
}

/** The token of the first admin, once the service has written it. */
export function adminToken(folder: string): string | undefined {
  const path = join(folder, 'admin-token');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/** Whether a service is ready at a port. */
export async function isReady(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** The launcher serves in its own process when it runs under the Node of the checkout, as here. A launcher that waits for a child is refused. */
function pidOf({ pid = 0, spawnfile }: ChildProcess): number {
  if (spawnfile !== process.execPath) throw new Error(`The service runs behind ${spawnfile}.`);
  return pid;
}
