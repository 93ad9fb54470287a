import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { NetworkRow } from '../../../contracts/network/result-network.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import type { CliOutput } from '../../terminal/cli-output.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** An open log of requests. */
export interface NetworkLog {
  /** Writes one line. Throws if that fails, so that no further request is made. */
  write(row: NetworkRow): void;
  close(): void;
}

const FLAG = '--network-log';
const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;

/**
 * Opens the log of `--network-log`, whose lines are added to those of earlier commands. A new file is readable by its owner only.
 *
 * @throws SkillcellError `usage.invalid`
 */
export function openNetworkLog(
  path: string,
  { io, output }: { io: Pick<CliIo, 'cwd'>; output: Pick<CliOutput, 'note'> },
): NetworkLog {
  const descriptor = openLog(path, resolve(io.cwd(), path));
  let hasFailed = false;
  return {
    write(row) {
      try {
        // A line is one write, so that the lines of two commands do not mix.
        const line = Buffer.from(`${JSON.stringify(row)}\n`);
        const written = writeSync(descriptor, line);
        if (written < line.length) throw new Error(`${written} of ${line.length} bytes were written`);
      } catch (error) {
        if (!hasFailed) void output.note(`network log: ${(error as Error).message}; no further request is made`);
        hasFailed = true;
        throw error;
      }
    },
    close: () => closeSync(descriptor),
  };
}

function openLog(shown: string, path: string): number {
  const refused = (reason: string): Error =>
    usageError(FLAG, `it must be a file that can be written to (${reason})`, shown);
  let descriptor: number;
  try {
    // Opening a fifo must not wait for its reader.
    descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  } catch (error) {
    throw refused((error as NodeJS.ErrnoException).code ?? String(error));
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw refused('it is no regular file');
}
