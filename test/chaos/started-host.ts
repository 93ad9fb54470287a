import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import type { ChaosHostSettings, HostOrder, HostWord } from './host-words.ts';
import { childOf, familyOf, type SeenProcess } from './outside-view.ts';

const PROGRAM = fileURLToPath(new URL('chaos-host.ts', import.meta.url));

/** A running host, as the referee knows it. */
export interface StartedHost {
  /** The owner by the process table, not by the word of the host. */
  readonly owner: string;
  readonly words: readonly HostWord[];
  /** The text on its standard error. */
  complaint(): string;
  send(order: HostOrder): void;
  /** Resolves when its words fulfil a condition, or when it has ended. */
  until(holds: (words: readonly HostWord[]) => boolean): Promise<void>;
  /** Kills the process that owns the sandboxes, and reads its words up to then. Returns the processes below it. */
  kill(): Promise<SeenProcess[]>;
  /** Resolves when it has ended and all its words are read: with its exit code, or null when it was killed. */
  readonly ended: Promise<number | null>;
}

/** Starts a host behind a launcher, as service managers do. */
export async function startHost(settings: ChaosHostSettings, temporary: string): Promise<StartedHost> {
  const words: HostWord[] = [];
  const waiting = new Set<() => void>();
  const launcher = spawn(
    '/bin/sh',
    ['-c', '"$@"; exit $?', 'sh', process.execPath, PROGRAM, JSON.stringify(settings)],
    { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, TMPDIR: temporary } },
  );
  let complaint = '';
  launcher.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-8_000)));
  // The host may be killed while an order is written to it.
  launcher.stdin.on('error', () => undefined);
  const lines = createInterface({ input: launcher.stdout });
  lines.on('line', (line) => {
    words.push(JSON.parse(line) as HostWord);
    for (const look of waiting) look();
  });
  let over = false;
  const ended = Promise.all([once(launcher, 'close'), once(lines, 'close')]).then(([[code]]) => {
    over = true;
    for (const look of waiting) look();
    return code === 137 ? null : (code as number);
  });

  let real: SeenProcess | undefined;
  while (real === undefined && !over) {
    real = childOf(launcher.pid ?? 0);
    if (real === undefined) await pause(1);
  }
  if (real === undefined) throw new Error(`The host did not start: ${complaint}`);
  const { pid, startTime } = real;

  return {
    owner: ownerName({ ...currentOwner(), pid, startTime }),
    words,
    complaint: () => complaint,
    ended,
    send: (order) => void launcher.stdin.write(`${JSON.stringify(order)}\n`),
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!over && !holds(words)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async kill() {
      const family = familyOf(pid);
      process.kill(pid, 'SIGKILL');
      return family;
    },
  };
}
