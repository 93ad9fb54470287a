/** Reads 1 GiB of stdout, from a job or a plain child process, and prints the memory that this process needed. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import type { GigabyteReport } from './local-stdout.ts';

const GIBIBYTE = 1024 ** 3;
const COMMAND = `head -c ${GIBIBYTE} /dev/zero`;

const take = process.argv[2] === 'pipe' ? takePipe : takeJob;
// Loads and compiles all code before memory is measured.
await take('head -c 1000000 /dev/zero', 1_000_000);
resetPeak();
const before = residentMib();
const started = performance.now();
await take(COMMAND, GIBIBYTE);
const seconds = (performance.now() - started) / 1000;
const report: GigabyteReport = { extraMib: peakMib() - before, mibPerSecond: 1024 / seconds };
process.stdout.write(`${JSON.stringify(report)}\n`);

async function takeJob(code: string, bytes: number): Promise<void> {
  await using orchestrator = createOrchestrator({ runners: [createLocalRunner()] });
  const limits = { totalOutputBytes: 2 * GIBIBYTE };
  const { outcome, stdout } = await orchestrator.exec({ code, language: 'bash', limits });
  if (outcome !== 'succeeded' || stdout.bytes !== bytes) {
    throw new Error(`Cannot measure: the job wrote other bytes, got ${outcome} and ${stdout.bytes}.`);
  }
}

async function takePipe(code: string, bytes: number): Promise<void> {
  const child = spawn('/bin/sh', ['-c', code], { stdio: ['ignore', 'pipe', 'ignore'] });
  let taken = 0;
  for await (const chunk of child.stdout) taken += (chunk as Buffer).length;
  if (taken !== bytes) throw new Error(`Cannot measure: the pipe brought other bytes, got ${taken}.`);
}

function resetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5');
}

function residentMib(): number {
  return statusMib('VmRSS');
}

function peakMib(): number {
  return statusMib('VmHWM');
}

function statusMib(name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'latin1'));
  if (match === null) throw new Error(`Cannot measure memory: /proc/self/status has no ${name}.`);
  return Number(match[1]) / 1024;
}
