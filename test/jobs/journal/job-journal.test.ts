import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { openJobJournal } from '../../../src/jobs/journal/job-journal.ts';
import { lostResult } from '../../../src/jobs/result/job-result.ts';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { codeOf } from '../../skills/code-of.ts';
import { MISSING_STRACE, requireHere } from '../../fixtures/describe-with.ts';
import { until } from '../../fixtures/until.ts';

const HOST = fileURLToPath(new URL('../../fixtures/journal-host.ts', import.meta.url));
const DEAD = ownerName({ ...currentOwner(), startTime: '1' });

let folder: string;
let hosts: ChildProcess[];
let lost: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  hosts = [];
  lost = [];
});
afterEach(() => {
  for (const host of hosts) host.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const job = (jobId: string): { jobId: string; kind: 'exec'; attempt: number } => ({ jobId, kind: 'exec', attempt: 1 });
const results = (): string[] => readdirSync(join(folder, 'results')).toSorted();
const resultOf = (jobId: string): JobResult =>
  JSON.parse(readFileSync(join(folder, 'results', `${jobId}.1.json`), 'utf8')) as JobResult;
const noteLost = ({ jobId }: JobResult): void => void lost.push(jobId);
const journals = (): string[] => readdirSync(folder).filter((name) => name.startsWith('accepted-'));
const done = (jobId: string): JobResult => ({ ...lostResult(job(jobId)), outcome: 'succeeded', exitCode: 0 });

/** Writes a journal of a dead owner. */
function leaveJournal(text: string): void {
  mkdirSync(join(folder, 'results'), { recursive: true });
  writeFileSync(join(folder, `accepted-${DEAD}-00000000.jsonl`), text);
}

it('counts an attempt whose owner died while this one was open', () => {
  const journal = openJobJournal(folder, noteLost);
  expect(journal.nextAttempt('a')).toBe(1);
  leaveJournal(`${JSON.stringify(job('a'))}\n`);
  expect(journal.nextAttempt('a')).toBe(2);
  expect(lost).toEqual(['a']);
  expect(resultOf('a')).toMatchObject({ error: { name: 'job.host-lost' } });
  expect(journals()).toHaveLength(1);
  journal.close();
});

/** Starts a process with its own journal in the folder, which follows orders and prints a line after each. */
async function startHost(
  ...orders: string[]
): Promise<{ process: ChildProcess; ended: Promise<unknown>; said: () => string }> {
  const host = spawn(process.execPath, [HOST, folder, ...orders], { stdio: ['ignore', 'pipe', 'inherit'] });
  // The process may exit before the first check.
  const ended = once(host, 'exit');
  hosts.push(host);
  let said = '';
  host.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(() => said.includes('open') || host.exitCode !== null, 'an open journal');
  return { process: host, ended, said: () => said };
}

describe('the journal of jobs', () => {
  it('has a job in its file once accept() returns, and removes the file when all jobs are done', () => {
    const journal = openJobJournal(folder);
    journal.accept(job('a'));
    const [name = ''] = journals();
    expect(readFileSync(join(folder, name), 'utf8')).toBe('{"jobId":"a","kind":"exec","attempt":1}\n');
    expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    journal.finish(done('a'));
    expect(results()).toEqual(['a.1.json']);
    expect(resultOf('a').outcome).toBe('succeeded');
    journal.close();
    journal.close();
    expect(journals()).toEqual([]);
    openJobJournal(folder, noteLost);
    expect(lost).toEqual([]);
  });

  it('calls fsync after the line of a job and before it reports that the job is accepted', async (context) => {
    const calls = await traceAccept(context);
    const line = calls.findIndex((call) => /^write\(\d+, "\{\\"jobId\\":\\"traced/.test(call));
    const descriptor = /^write\((\d+)/.exec(calls[line] ?? '')?.[1] ?? '';
    const synced = calls.findIndex((call, index) => index > line && call.startsWith(`fsync(${descriptor})`));
    const said = calls.findIndex((call) => call.includes('accepted traced'));
    expect(line).toBeGreaterThan(-1);
    expect(synced).toBeGreaterThan(line);
    expect(said).toBeGreaterThan(synced);
  });

  it('calls fsync on a result before the result has its name, and on the folder after', async (context) => {
    const calls = await traceAccept(context, 'finish:traced');
    const after = (index: number, pattern: RegExp): number =>
      calls.findIndex((call, at) => at > index && pattern.test(call));
    const line = after(-1, /^write\(\d+, "\{\\"jobId\\":\\"traced.*\\"runner\\"/);
    const descriptor = /^write\((\d+)/.exec(calls[line] ?? '')?.[1] ?? '';
    const synced = after(line, new RegExp(`^fsync\\(${descriptor}\\)`));
    const named = after(line, /^link(at)?\(.*traced\.1\.json/);
    const folderSynced = after(named, /^fsync\(/);
    expect(line).toBeGreaterThan(-1);
    expect(synced).toBeGreaterThan(line);
    expect(named).toBeGreaterThan(synced);
    expect(folderSynced).toBeGreaterThan(named);
  });

  it('F16 loses no accepted job to a crash: the next owner records each as failed with job.host-lost, once', async () => {
    const host = await startHost('accept:a', 'accept:b', 'finish:b', 'accept:c', 'wait');
    await until(() => host.said().includes('accepted c'), 'the orders');
    host.process.kill('SIGKILL');
    await host.ended;
    expect(journals()).toHaveLength(1);
    const journal = openJobJournal(folder, noteLost);
    expect(lost).toEqual(['a', 'c']);
    expect(results()).toEqual(['a.1.json', 'b.1.json', 'c.1.json']);
    expect(resultOf('a')).toMatchObject({ outcome: 'failed', error: { name: 'job.host-lost' }, exitCode: null });
    expect(resultOf('b').outcome).toBe('succeeded');
    expect(journals()).toHaveLength(1);
    journal.close();
  });

  it('F16 treats a line that a crash has cut off as a job that was never accepted', () => {
    leaveJournal('{"jobId":"a","kind":"exec","attempt":1}\nnull\n{}\n\0\0\0\n{"jobId":"b","kind":"ex');
    const journal = openJobJournal(folder, noteLost);
    expect(lost).toEqual(['a']);
    expect(results()).toEqual(['a.1.json']);
    journal.close();
  });

  it('F16 removes partial results of dead owners, and keeps those of living owners', () => {
    leaveJournal('');
    const living = `.${ownerName(currentOwner())}-0123456789abcdef.part`;
    for (const name of [`.${DEAD}-0123456789abcdef.part`, living, '.someone.part']) {
      writeFileSync(join(folder, 'results', name), '{"jobId"');
    }
    openJobJournal(folder).close();
    expect(results()).toEqual([living, '.someone.part'].toSorted());
  });

  it('keeps the first of two results, even from different owners', () => {
    const one = openJobJournal(folder);
    const other = openJobJournal(folder);
    one.accept(job('a'));
    other.accept(job('a'));
    one.finish(done('a'));
    other.finish(lostResult(job('a')));
    one.finish(lostResult(job('a')));
    expect(resultOf('a').outcome).toBe('succeeded');
    expect(results()).toEqual(['a.1.json']);
    expect(codeOf(() => one.accept(job('a')))).toBe('job.invalid');
    one.close();
    other.close();
  });

  it('F16 of a dead owner is settled by an orchestrator, with a log and without one', async () => {
    let log = '';
    const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) });
    leaveJournal(`${JSON.stringify(job('a'))}\n`);
    await createOrchestrator({ stateDir: folder }).close();
    leaveJournal(`${JSON.stringify(job('b'))}\n`);
    await createOrchestrator({ stateDir: folder, logger }).close();
    expect(['a', 'b'].map((id) => resultOf(id).error?.name)).toEqual(['job.host-lost', 'job.host-lost']);
    expect(log).toContain('"jobId":"b"');
  });

  it('closes once, so that a later file with its descriptor number stays open', () => {
    const journal = openJobJournal(folder);
    journal.close();
    const other = openSync(join(folder, 'other'), 'w');
    for (let again = 0; again < 2; again += 1) journal.close();
    writeSync(other, 'open');
    closeSync(other);
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('open');
  });

  it('F06 leaves the jobs of a live owner in the same folder alone', async () => {
    const host = await startHost('accept:theirs', 'wait');
    await until(() => host.said().includes('accepted theirs'), 'their job');
    const journal = openJobJournal(folder, noteLost);
    journal.accept(job('ours'));
    expect(lost).toEqual([]);
    journal.finish(done('ours'));
    journal.close();
    expect(results()).toEqual(['ours.1.json']);
    expect(journals()).toHaveLength(1);
  });

  it('settles a dead owner once when several successors start at the same time', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `job-${index}`);
    leaveJournal(ids.map((id) => `${JSON.stringify(job(id))}\n`).join(''));
    const successors = await Promise.all([1, 2, 3].map(() => startHost('lost')));
    await Promise.all(successors.map((host) => until(() => host.said().includes('end'), 'the end of a successor')));
    const settled = successors.flatMap((host) => [...host.said().matchAll(/^lost (\S+)$/gm)].map(([, id]) => id ?? ''));
    expect(settled.toSorted()).toEqual(ids.toSorted());
    expect(results()).toEqual(ids.map((id) => `${id}.1.json`).toSorted());
    expect(journals()).toEqual([]);
  });

  it('records the failure of an accepted job that gets no sandbox', async () => {
    const start = (): Promise<never> => Promise.reject(new SkillcellError('runner.isolation-unmet', 'No walls.'));
    const runner = { ...createLocalRunner(), start };
    await using orchestrator = createOrchestrator({ stateDir: folder, runners: [runner], sweepIntervalMs: 0 });
    const refused = orchestrator.exec({ jobId: 'a', code: '1' });
    await expect(refused).rejects.toMatchObject({ code: 'runner.isolation-unmet' });
    expect(resultOf('a')).toMatchObject({ outcome: 'failed', error: { name: 'runner.isolation-unmet' } });
  });

  it('F15 refuses a folder that it cannot write, before anything is started', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    expect(codeOf(() => openJobJournal(path))).toBe('state.write-failed');
    expect(codeOf(() => createOrchestrator({ stateDir: path, pool: { size: 2 } }))).toBe('state.write-failed');
    expect(codeOf(() => openJobJournal('/sys/state'))).toBe('state.write-failed');
  });

  it('F15 refuses jobs while its folder is missing, and accepts them again when it is back', async () => {
    await using orchestrator = createOrchestrator({ stateDir: folder, allowUnisolated: true, sweepIntervalMs: 0 });
    const exec = (jobId: string): Promise<JobResult> => orchestrator.exec({ jobId, isolation: 'none', code: '1' });
    expect((await exec('a')).outcome).toBe('succeeded');
    const kept = `${folder}-kept`;
    execFileSync('mv', [join(folder, 'results'), kept]);
    await expect(exec('b')).rejects.toMatchObject({ code: 'state.write-failed' });
    execFileSync('mv', [kept, join(folder, 'results')]);
    expect((await exec('c')).outcome).toBe('succeeded');
    expect(resultOf('b').error?.name).toBe('state.write-failed');
  });
});

describe('F14 a full disk', () => {
  beforeEach((context) => {
    requireHere(context, process.getuid?.() === 0 ? undefined : 'uid 0, to mount a small file system');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  });
  afterEach(() => {
    if (process.getuid?.() === 0) execFileSync('umount', ['-l', folder]);
  });

  const fill = (): void => {
    try {
      for (;;) appendFileSync(join(folder, 'ballast'), Buffer.alloc(512));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  };
  const makeRoom = (): void => rmSync(join(folder, 'ballast'));

  it('refuses jobs, keeps the journal intact, and accepts jobs again when there is space', () => {
    const journal = openJobJournal(folder);
    journal.accept(job('before'));
    fill();
    // The first page of the file still has room for some lines.
    const accepted = ['before'];
    const acceptUntilFull = (): void => {
      for (;;) {
        const jobId = `${accepted.length}-${'x'.repeat(57)}`;
        journal.accept(job(jobId));
        accepted.push(jobId);
      }
    };
    expect(codeOf(acceptUntilFull)).toBe('state.write-failed');
    expect(codeOf(acceptUntilFull)).toBe('state.write-failed');
    makeRoom();
    journal.accept(job('after'));
    accepted.push('after');
    const [name = ''] = journals();
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as JobResult).jobId)).toEqual(accepted);
    journal.close();
  });

  it('fails a job whose result does not fit, leaves no partial result, and records the failure when there is space', async () => {
    await using orchestrator = createOrchestrator({ stateDir: folder, sweepIntervalMs: 0 });
    const exec = (jobId: string, code: string): Promise<JobResult> =>
      orchestrator.exec({ jobId, isolation: 'none', code });
    const running = orchestrator.stream({
      kind: 'exec',
      jobId: 'full',
      isolation: 'none',
      code: 'console.log("x".repeat(8_000)); await new Promise((resolve) => setTimeout(resolve, 200));',
    });
    running.result.catch(() => undefined);
    for await (const event of running) if (event.type === 'run') fill();
    await expect(running.result).rejects.toMatchObject({ code: 'state.write-failed' });
    expect(results()).toEqual([]);
    makeRoom();
    expect((await exec('next', 'console.log(1)')).outcome).toBe('succeeded');
    expect(results()).toEqual(['full.1.json', 'next.1.json']);
    expect(resultOf('full')).toMatchObject({ outcome: 'failed', error: { name: 'state.write-failed' } });
    await expect(exec('full', '1')).rejects.toMatchObject({ code: 'job.invalid' });
  });

  it('leaves the journal to the next owner if there is no space until the end', async () => {
    const host = await startHost('accept:a', 'fill', 'finish:a', 'close');
    await host.ended;
    expect(host.said()).toContain('state.write-failed a');
    expect(results()).toEqual([]);
    makeRoom();
    const journal = openJobJournal(folder, noteLost);
    expect(lost).toEqual(['a']);
    journal.close();
  });
});

/**
 * System calls of the thread that accepts one job in a host, in order. Each thread has a trace file of its own: in a common file,
 * a call of another thread would split the line of a pending call.
 */
async function traceAccept(context: TestContext, ...orders: string[]): Promise<string[]> {
  const traces = join(folder, 'traces');
  mkdirSync(traces);
  requireHere(context, MISSING_STRACE);
  const words = ['-ff', '-qq', '-e', 'trace=write,fsync,link,linkat', '-s', '160', '-o', join(traces, 'thread')];
  const host = spawn('strace', [...words, process.execPath, HOST, folder, 'accept:traced', ...orders], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(host, 'exit');
  const threads = readdirSync(traces).map((name) => readFileSync(join(traces, name), 'utf8'));
  const [accepting = '', ...others] = threads.filter((text) => text.includes('accepted traced'));
  expect(others).toEqual([]);
  return accepting.split('\n');
}
