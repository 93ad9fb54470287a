import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Tool } from '../../../src/tools/define/tool.ts';
import type { Session, SessionOptions } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel, runnerOf } from '../../fixtures/every-level.ts';
import { fleetFile } from '../../fixtures/fleet/fleet-of-tests.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'session-state-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const BEST: SessionOptions = { isolation: BEST_LEVEL, runner: runnerOf(BEST_LEVEL) };
const resultOf = (id: string, attempt: number): { outcome: string; error?: { name: string } } =>
  JSON.parse(readFileSync(join(stateDir, 'results', `${id}.${attempt}.json`), 'utf8')) as never;

it('lets 16 runs wait, and refuses more', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  await using session = await orchestrator.session(BEST);
  const slow = session.stream('console.log("on"); for (;;) {}');
  for await (const event of slow) if (event.type === 'output') break;
  const waiting = Array.from({ length: 16 }, (_, index) => session.run(`${index}`));
  await expect(session.run('17')).rejects.toMatchObject({ code: 'session.busy' });
  session.interrupt();
  expect((await Promise.all(waiting)).map(({ value }) => value)).toEqual(
    Array.from({ length: 16 }, (_, index) => index),
  );
});

it('gives up a waiting run whose signal is aborted, and lets no later run overtake the current one', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  await using session = await orchestrator.session(BEST);
  const slow = session.stream('console.log("on"); for (;;) {}');
  for await (const event of slow) if (event.type === 'output') break;
  const gone = new AbortController();
  const given = session.run('globalThis.ran = true', { signal: gone.signal });
  const last = session.run('typeof ran');
  gone.abort(new Error('no longer needed'));
  expect(await given).toMatchObject({ run: 2, outcome: 'canceled', state: 'kept', stdout: { text: '' }, calls: [] });
  session.interrupt();
  expect((await slow.result).outcome).toBe('canceled');
  expect(await last).toMatchObject({ run: 3, value: 'undefined' });
  const events = [];
  const late = session.stream('1', { signal: gone.signal });
  for await (const event of late) events.push(event);
  expect(await late.result).toMatchObject({ run: 4, epoch: 1, outcome: 'canceled' });
  expect(events).toEqual([]);
});

it('settles a waiting run if its signal is aborted and the session closed at once, in either order', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  const gone = [new AbortController(), new AbortController()] as const;
  const sessions = [await orchestrator.session(BEST), await orchestrator.session(BEST)] as const;
  const waiting = sessions.map((session, index) => {
    const slow = session.run('await new Promise(() => {})');
    slow.catch(() => undefined);
    return session.run('1', { signal: gone[index as 0 | 1].signal });
  });
  const settled = Promise.allSettled(waiting);
  gone[0].abort(new Error('gone'));
  void sessions[0].close();
  void sessions[1].close();
  gone[1].abort(new Error('gone'));
  expect(await settled).toMatchObject([
    { status: 'fulfilled', value: { run: 2, outcome: 'canceled' } },
    { status: 'rejected', reason: { code: 'session.ended' } },
  ]);
});

it('survives an approval that is still open when its run ends', async () => {
  const asked = Promise.withResolvers<void>();
  await using orchestrator = createOrchestrator({
    runners: await everyRunner(),
    allowUnisolated: true,
    tools: [{ id: 'pay', description: 'Pays.', effect: 'write', approval: 'always', execute: async () => 1 }],
    approve: () => {
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  await using session = await orchestrator.session({ ...BEST, tools: ['pay'], limits: { graceMs: 1_000 } });
  // The clock of that run: its time, its grace, and ten seconds for its report.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  try {
    const run = session.run("import { tools } from 'skillcell'; await tools.pay({});", { timeoutMs: 3_000 });
    await asked.promise;
    session.interrupt();
    expect(await run).toMatchObject({ outcome: 'canceled', state: 'kept' });
    await vi.advanceTimersByTimeAsync(15_000);
  } finally {
    vi.useRealTimers();
  }
  expect((await session.run('6 * 7')).value).toBe(42);
});

it('enforces the call limit of a tool over all runs', async () => {
  const once: Tool = {
    id: 'once',
    description: 'Is called once.',
    effect: 'write',
    maxCalls: 1,
    execute: async () => 1,
  };
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true, tools: [once] });
  await using session = await orchestrator.session({ ...BEST, tools: ['once'] });
  const code = "(await import('skillcell')).tools.once({}).catch(({ code }) => code)";
  expect((await session.run(code)).value).toBe(1);
  expect((await session.run(code)).value).toBe('tool.limit');
});

it('cancels a run whose signal is aborted as its turn comes', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  await using session = await orchestrator.session(BEST);
  for (let ticks = 0; ticks < 8; ticks += 1) {
    const gone = new AbortController();
    const run = session.run('await new Promise(() => {})', { signal: gone.signal, timeoutMs: 5_000 });
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    gone.abort(new Error('gone'));
    expect((await run).outcome, `${ticks}`).toBe('canceled');
  }
});

it('opens at most maxSessions sessions, and each id once', async () => {
  await using orchestrator = createOrchestrator({
    runners: await everyRunner(),
    allowUnisolated: true,
    maxSessions: 2,
  });
  const first = await orchestrator.session({ ...BEST, sessionId: 'first' });
  await expect(orchestrator.session({ ...BEST, sessionId: 'first' })).rejects.toMatchObject({ code: 'job.invalid' });
  await orchestrator.session(BEST);
  await expect(orchestrator.session(BEST)).rejects.toMatchObject({ code: 'session.too-many' });
  await first.close();
  expect((await orchestrator.session(BEST)).id).not.toBe('first');
});

it('names all fields of a session if an unknown field is given', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  const opened = orchestrator.session({ ...BEST, foo: 1 } as never);
  await expect(opened).rejects.toThrow(
    'Cannot open the session: there is no field foo, got 1. There are runner, isolation, files, env, limits, skills, tools, network, packages, ' +
      'secrets, context, signal, language, sessionId, resume, idleTimeoutMs, sessionTimeoutMs.',
  );
});

it.each<[string, unknown]>([
  ['an id of other characters', { sessionId: '../up' }],
  ['a time of zero', { idleTimeoutMs: 0 }],
  ['a clock of its job', { limits: { jobTimeoutMs: 1_000 } }],
  ['a misspelt field', { idleTimeout: 5 }],
  ['a field of other jobs', { code: '1' }],
  ['the id of a job', { jobId: 'a' }],
  ['a number', 5],
  ['null', null],
  ['an id in addition to the resumed id', { sessionId: 'a', resume: 'b' }],
  ['an unknown language', { language: 'cobol' }],
])('refuses %s', async (_name, options) => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  const given = options !== null && typeof options === 'object' ? { ...BEST, ...options } : options;
  await expect(orchestrator.session(given as SessionOptions)).rejects.toMatchObject({
    code: 'job.invalid',
  });
});

it.each<[string, unknown, object]>([
  ['empty code', ' ', {}],
  ['code that is a number', 5, {}],
  ['more code than a run may have', 'x'.repeat(1024 * 1024 + 1), {}],
  ['a misspelt option', '1', { timeout: 5 }],
  ['more time than is allowed', '1', { timeoutMs: 2_000 }],
  ['a NUL in bash', 'echo \0', { language: 'bash' }],
])('a run refuses %s', async (_name, code, options) => {
  await using orchestrator = createOrchestrator({
    runners: await everyRunner(),
    allowUnisolated: true,
    ceilings: { runTimeoutMs: 1_000 },
  });
  await using session = await orchestrator.session(BEST);
  await expect(session.run(code as string, options)).rejects.toMatchObject({ code: 'job.invalid' });
  expect((await session.run('1')).value).toBe(1);
});

describe.each(ALL_LEVELS)('at level %s', (level) => {
  it('ends an idle session, keeps its workspace, and resumes it', async (context) => {
    requireEachLevel(context, level);
    const options: SessionOptions = {
      isolation: level,
      runner: runnerOf(level),
      idleTimeoutMs: 100,
    };
    const runners = await everyRunner();
    await using orchestrator = createOrchestrator({ runners, allowUnisolated: true, stateDir });
    const session = await orchestrator.session({ ...options, sessionId: 'idle' });
    await session.run(
      "require('node:fs').writeFileSync('kept.txt', 'kept'); globalThis.gone = 1; await new Promise((resolve) => setTimeout(resolve, 300)); 1",
    );
    const ended = await session.ended;
    expect(ended).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    expect(ended.diagnostics.map(({ code }) => code)).toContain('session.ended');
    await expect(session.run('1')).rejects.toMatchObject({ code: 'session.ended' });
    expect(statSync(join(stateDir, 'sessions', 'idle.tar')).mode & 0o777).toBe(0o600);

    const again = await orchestrator.session({
      ...options,
      resume: 'idle',
      idleTimeoutMs: 60_000,
      files: { 'more.txt': 'more' },
    });
    expect(again.id).toBe('idle');
    const found = await again.run(
      "[require('node:fs').readFileSync('kept.txt', 'utf8'), require('node:fs').readFileSync('more.txt', 'utf8'), typeof gone]",
    );
    expect(found.value).toEqual(['kept', 'more', 'undefined']);
    expect(await again.close()).toMatchObject({ attempt: 2, jobId: 'idle' });
    expect(resultOf('idle', 2).outcome).toBe('succeeded');
    await expect(orchestrator.session({ ...options, resume: 'idle' })).rejects.toMatchObject({
      code: 'session.unknown',
    });
  });

  it('removes a session whose host is killed, and records it as lost', async (context) => {
    requireEachLevel(context, level);
    const daemon = `session-daemon-${process.pid}-${level}`;
    const host = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('../../fixtures/session-host.ts', import.meta.url)),
        level,
        stateDir,
        daemon,
        await fleetFile(),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(host.stdout, 'data');
    await until(() => processesNamed(daemon) > 0, 'the program of the session');
    host.kill('SIGKILL');
    await once(host, 'exit');
    await using orchestrator = createOrchestrator({ runners: await everyRunner(), stateDir });
    await orchestrator.sweep();
    await until(() => processesNamed(daemon) === 0, 'the end of the session');
    expect(resultOf('killed', 1).error?.name).toBe('job.host-lost');
    await expect(orchestrator.session({ resume: 'killed' })).rejects.toMatchObject({ code: 'session.unknown' });
  });
});

it('ends with a timeout after sessionTimeoutMs', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  const session = await orchestrator.session({ ...BEST, sessionTimeoutMs: 1_500 });
  const run = await session.run('for (;;) {}');
  expect(run).toMatchObject({ outcome: 'timeout', error: { name: 'JobTimeout' } });
  expect(await session.ended).toMatchObject({ outcome: 'timeout' });
});

it('is canceled like a job, with its current run and its waiting runs', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true, stateDir });
  const session = await orchestrator.session({ ...BEST, sessionId: 'gone' });
  const stream = session.stream('console.log("on"); await new Promise(() => {})');
  const waiting = session.run('1');
  waiting.catch(() => undefined);
  for await (const event of stream) if (event.type === 'output') orchestrator.cancel('gone', 'no longer needed');
  expect((await stream.result).outcome).toBe('canceled');
  await expect(waiting).rejects.toMatchObject({ code: 'session.ended' });
  expect(await session.ended).toMatchObject({ outcome: 'canceled', error: { message: 'no longer needed' } });
  expect(resultOf('gone', 1).outcome).toBe('canceled');
});

it('takes a place in the job queue only during its runs', async () => {
  await using orchestrator = createOrchestrator({
    runners: await everyRunner(),
    allowUnisolated: true,
    concurrency: 1,
  });
  const sessions: Session[] = [await orchestrator.session(BEST), await orchestrator.session(BEST)];
  expect((await orchestrator.exec({ isolation: BEST_LEVEL, code: '1' })).outcome).toBe('succeeded');
  const values = await Promise.all(sessions.map((session, index) => session.run(`${index}`)));
  expect(values.map(({ value }) => value)).toEqual([0, 1]);
});

it('does not leak memory from run to run', async () => {
  await using orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
  await using session = await orchestrator.session(BEST);
  const runMany = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) expect((await session.run('const step = 1; step')).value).toBe(1);
  };
  const held = async (): Promise<{ host: number; program: number }> => {
    const { value } = await session.run(`(${String(heldBytes)})(require('node:v8'), require('node:vm'))`);
    return { host: heldBytes(v8, vm), program: value as number };
  };
  await runMany(600);
  const before = await held();
  await runMany(600);
  const after = await held();
  // A leak of twenty kilobytes in each run exceeds this.
  expect(after.host - before.host).toBeLessThan(12 * 1024 * 1024);
  expect(after.program - before.program).toBeLessThan(12 * 1024 * 1024);
});

/** Bytes of the heap after garbage collection. The text of this function also runs in the session. */
function heldBytes(
  { setFlagsFromString }: Pick<typeof v8, 'setFlagsFromString'>,
  { runInNewContext }: Pick<typeof vm, 'runInNewContext'>,
): number {
  setFlagsFromString('--expose-gc');
  for (let round = 0; round < 2; round += 1) runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

function processesNamed(name: string): number {
  return readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, 'utf8').startsWith(name);
    } catch {
      // It has just ended.
      return false;
    }
  }).length;
}
