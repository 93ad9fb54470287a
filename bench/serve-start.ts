import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackedPackage } from '../test/fixtures/packed-package.ts';
import { type Measurement, measurementOf, numbersOf } from './measurement.ts';
import type { ServePart } from './serve-scene.ts';
import { takeTurns } from './take-turns.ts';

const SAMPLES = 10;
const START = 'serve.start';
const IDLE = 'serve.idle';
const BARE = 'orchestrator';
/** Time in which a process comes to rest. */
const REST_MS = 2_000;
/** Clock ticks of `/proc` are hundredths of a second. */
const TICK_MS = 10;
const MIB = 1024;
const PROGRAM = `import { createServer } from 'node:http';
import { createOrchestrator } from 'skillcell';
createOrchestrator();
const server = createServer((request, response) => response.end()).listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify(server.address()));
});`;

/** The processor time until the packed service listens, and its memory at rest, against an orchestrator with a plain server. */
export const serveStart: ServePart = {
  ids: [START, IDLE],
  async rows(_scene, options) {
    const { folder } = await installPackedPackage();
    const state = mkdtempSync(join(tmpdir(), 'skillcell-bench-serve-'));
    try {
      const program = join(folder, 'bare.mjs');
      writeFileSync(program, PROGRAM);
      const command = join(folder, 'node_modules/skillcell/bin/skillcell.js');
      const subjects = [
        { id: BARE, sample: () => started([program]) },
        { id: START, sample: () => started([command, 'serve', '--port', '0', '--state', state, '--json']) },
      ];
      const values = await takeTurns(subjects, options.samples ?? SAMPLES, options.progress);
      const row = (id: string, unit: string, goal: string, read: (start: Started) => number): Measurement =>
        measurementOf({
          ...{ id, unit, goal, values: numbersOf(values.get(START), read) },
          baseline: { id: BARE, values: numbersOf(values.get(BARE), read) },
        });
      return [
        row(START, 'ms CPU', 'ratio ≤ 1.8', ({ cpuMs }) => cpuMs),
        row(IDLE, 'MiB', 'ratio ≤ 1.6', ({ memoryMib }) => memoryMib),
      ];
    } finally {
      rmSync(folder, { recursive: true });
      rmSync(state, { recursive: true });
    }
  },
};

interface Started {
  /** Of all threads, until the server listens. */
  cpuMs: number;
  /** Resident, at rest. */
  memoryMib: number;
}

async function started(args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  try {
    await Promise.race([once(child.stdout, 'data'), ended]);
    const cpuMs = cpuMsOf(child);
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const status = readFileSync(`/proc/${child.pid}/status`, 'latin1');
    return { cpuMs, memoryMib: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / MIB };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

function cpuMsOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
