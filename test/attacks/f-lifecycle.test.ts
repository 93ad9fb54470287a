import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import { listControlGroups } from '../../src/sandboxes/local/control-group.ts';
import { endThoseWith, processesWith, read, sandboxProcesses } from './leftovers.ts';
import { plainly, runCommand } from './plainly.ts';
import { startSeparateHost } from './separate-host.ts';
import { EVERY_LEVEL, attack, type Level } from './surroundings.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';
import { toolList } from '../fixtures/tool-list.ts';
import { until } from '../fixtures/until.ts';

/** Levels of the local runner, because these tests start their own host. */
const BOTH: Level[] = ['namespace', 'none'];

const CREATES =
  "import os, time\nfor number in range(40): open(os.environ['SKILLCELL_OUTPUT'] + f'/{number}', 'w').write('x' * 500000)\nprint('written', flush=True)";

attack(
  'F18',
  'is canceled in each state, once, and leaves nothing',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ ownOrchestrator, level, evidence }) => {
    const own = ownOrchestrator({ concurrency: 1 });
    const ends: string[] = [];
    const start = (
      code: string,
    ): {
      jobId: string;
      next: (type: JobEvent['type']) => Promise<void>;
      end: Promise<string>;
      finals: () => number;
    } => {
      const stream = own.stream({ kind: 'exec', language: 'python', isolation: level, code, limits: { graceMs: 100 } });
      const seen: JobEvent['type'][] = [];
      const read = (async () => {
        for await (const event of stream) seen.push(event.type);
      })();
      const result = stream.result.then(
        (value): string => value.outcome,
        (error: { code: string }) => error.code,
      );
      return {
        jobId: stream.jobId,
        async next(type) {
          while (!seen.includes(type)) await pause(1);
        },
        end: result.then(async (end) => (await read, end)),
        finals: () => seen.filter((type) => type === 'finished' || type === 'faulted').length,
      };
    };
    const running = start('import time\ntime.sleep(20)');
    await running.next('run');
    const queued = start('print(1)');
    await queued.next('accepted');
    expect(own.cancel(queued.jobId)).toBe(true);
    ends.push(`queued ${await queued.end}`);
    expect(own.cancel(running.jobId)).toBe(true);
    expect(own.cancel(running.jobId)).toBe(true);
    ends.push(`running ${await running.end}`);
    for (const delayMs of [0, 5, 15, 30, 60]) {
      const starting = start('import time\ntime.sleep(20)');
      await starting.next('accepted');
      await pause(delayMs);
      own.cancel(starting.jobId);
      ends.push(`starting ${await starting.end}`);
      expect(starting.finals()).toBe(1);
    }
    const collecting = start(CREATES);
    await collecting.next('artifact');
    own.cancel(collecting.jobId);
    ends.push(`collecting ${await collecting.end}`);
    const done = start('print(1)');
    ends.push(`done ${await done.end}`);
    expect(own.cancel(done.jobId)).toBe(false);
    for (const one of [running, queued, collecting, done]) expect(one.finals()).toBe(1);
    expect(ends.filter((end) => end.startsWith('queued'))).toEqual(['queued canceled']);
    expect(ends).toContain('running canceled');
    expect(ends.filter((end) => end.startsWith('starting')).every((end) => end === 'starting canceled')).toBe(true);
    expect(ends.at(-2)).toMatch(/^collecting (canceled|succeeded)$/);
    expect(ends.at(-1)).toBe('done succeeded');
    evidence(ends.join(', '));
  },
);

attack(
  'F18',
  'is canceled although it resists in every way',
  { levels: EVERY_LEVEL, timeoutMs: 60_000 },
  async ({ orchestrator, level, evidence }) => {
    const codes = {
      'ignores signals':
        'import signal, time\nfor number in range(1, 65):\n    try: signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nprint("ready", flush=True)\nwhile True: time.sleep(1)',
      floods: 'import os\nwhile True: os.write(1, b"ready" * 10000)',
      forks:
        'import os, time\nfirst = os.getpid()\nprint("ready", flush=True)\nend = time.monotonic() + 8\nwhile time.monotonic() < end:\n    try:\n        if os.fork() > 0: os._exit(0) if os.getppid() == 1 and os.getpid() != first else time.sleep(0.01)\n    except OSError: time.sleep(0.01)',
      'stops itself': 'import os, signal, sys\nprint("ready", flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)',
    };
    const took: string[] = [];
    for (const [what, code] of Object.entries(codes)) {
      const stream = orchestrator.stream({
        kind: 'exec',
        language: 'python',
        isolation: level,
        code,
        limits: { graceMs: 200, pids: 64, totalOutputBytes: 2 ** 36 },
      });
      let sinceCancel: (() => number) | undefined;
      for await (const event of stream) {
        if (event.type !== 'output' || sinceCancel !== undefined) continue;
        sinceCancel = startQuietClock();
        orchestrator.cancel(stream.jobId);
      }
      const result = await stream.result;
      expect(result.outcome, what).toBe('canceled');
      const tookMs = sinceCancel?.() ?? Number.POSITIVE_INFINITY;
      took.push(`${what} ${Math.round(tookMs)} ms`);
      expect(tookMs, what).toBeLessThan(4_000);
    }
    evidence(took.join(', '));
  },
);

const SLEEPER = (token: string): string => `
import os, subprocess, sys, time
subprocess.Popen(['python3', '-c', 'import os, time; os.setsid(); time.sleep(60)', '${token}'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(60)`;

attack(
  'G04',
  'dies with its host when the host is killed',
  { levels: BOTH, timeoutMs: 60_000, ofThisHost: true },
  async ({ level, evidence, orchestrator }) => {
    const plainToken = `orphan-plain-${process.pid}-${Math.random()}`;
    await runCommand([
      process.execPath,
      '-e',
      `const child = require('node:child_process').spawn('/usr/bin/python3', ['-c', ${JSON.stringify(SLEEPER(plainToken))}], { detached: true, stdio: 'ignore' }); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 400);`,
    ]);
    await endThoseWith(plainToken);
    const token = `orphan-${process.pid}-${Math.random()}`;
    const host = await startSeparateHost({ jobs: [{ language: 'python', isolation: level, code: SLEEPER(token) }] });
    await until(() => processesWith(token).length > 0, 'the start of the program');
    const elapsedMs = startQuietClock();
    host.kill('SIGKILL');
    await until(() => processesWith(token).length === 0, 'the end of its processes');
    const tookMs = elapsedMs();
    expect(tookMs).toBeLessThan(2_500);
    // Processes of the host die with its first thread; an owner is dead when its last thread is.
    await until(() => host.signalCode !== null, 'the end of the host');
    const report = await orchestrator.sweep();
    expect(report.failed).toEqual([]);
    const owned = new RegExp(`-${host.pid}-\\d+`);
    expect(listControlGroups().filter((name) => owned.test(name))).toEqual([]);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('skillcell-') && owned.test(name))).toEqual([]);
    evidence(
      `gone ${Math.round(tookMs)} ms after kill -9 of the host; the sweep removed ${report.removed.map((row) => row.kind).join(', ') || 'nothing more'}`,
    );
  },
);

attack(
  'G04',
  'is found by the sweep when host and supervisor were killed at once',
  { levels: ['none'], timeoutMs: 60_000 },
  async ({ level, evidence, orchestrator }) => {
    const token = `orphan-${process.pid}-${Math.random()}`;
    const host = await startSeparateHost({ jobs: [{ language: 'python', isolation: level, code: SLEEPER(token) }] });
    await until(() => processesWith(token).length > 0, 'the start of the program');
    const entries = processesWith('entry.cjs').filter(
      (pid) => read(pid, 'stat').split(') ')[1]?.split(' ')[1] === `${host.pid}`,
    );
    expect(entries.length).toBe(1);
    for (const pid of [host.pid ?? 0, ...entries]) process.kill(pid, 'SIGKILL');
    await pause(300);
    expect(processesWith(token)).not.toEqual([]);
    const report = await orchestrator.sweep();
    await until(() => processesWith(token).length === 0, 'the end of its processes');
    expect(report.failed).toEqual([]);
    expect(report.removed.map((row) => row.kind)).toEqual(expect.arrayContaining(['process', 'folder']));
    evidence(`the sweep removed ${report.removed.map((row) => row.kind).join(', ')}`);
  },
);

attack(
  'F06',
  'is left alone by another host’s sweep',
  { levels: BOTH, timeoutMs: 60_000 },
  async ({ level, evidence, orchestrator, ownOrchestrator }) => {
    const token = `alive-${process.pid}-${Math.random()}`;
    const host = await startSeparateHost({
      jobs: [
        { language: 'python', isolation: level, code: `# ${token}\nimport time\ntime.sleep(1.5)\nprint('through')` },
      ],
    });
    let answer = '';
    host.stdout.setEncoding('utf8').on('data', (text: string) => (answer += text));
    const ended = new Promise((resolve) => host.once('close', resolve));
    const own = ownOrchestrator({});
    const beside = own.exec({ language: 'bash', isolation: level, code: 'sleep 1; echo also' });
    await pause(200);
    await orchestrator.sweep();
    await ended;
    expect(answer).toContain('through\\n');
    expect(await beside).toMatchObject({ outcome: 'succeeded', stdout: { text: 'also\n' } });
    evidence('jobs of this and of another living host went on');
  },
);

attack(
  'F19',
  'is ended properly although its reader throws and its tool never settles',
  { levels: EVERY_LEVEL },
  async ({ ownOrchestrator, level, evidence }) => {
    const tools = toolList([
      ['never', { description: 'Never answers.', execute: () => new Promise<never>(() => undefined) }],
    ]);
    const own = ownOrchestrator({ tools });
    const code = "import { callTool } from 'skillcell'; console.log('calling'); await callTool('never');";
    const stream = own.stream({
      kind: 'exec',
      isolation: level,
      tools: ['never'],
      code,
      limits: { runTimeoutMs: 3_000, graceMs: 100 },
    });
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'output') throw new Error('the reader broke');
    })();
    await expect(reading).rejects.toThrow('the reader broke');
    expect(await stream.result).toMatchObject({ outcome: 'timeout', calls: [{ name: 'never', ok: false }] });
    evidence('timeout, the call is a row that failed');
  },
);

attack(
  'F20',
  'leaves nothing after forty jobs of every kind',
  { levels: EVERY_LEVEL, timeoutMs: 90_000 },
  async ({ level, job, evidence }) => {
    const codes = [
      'exit 0',
      'exit 3',
      'kill -9 $$',
      'sleep 9',
      '(sleep 50 &) ; exit 0',
      'setsid sleep 50 & exit 0',
      'head -c 3000000 /dev/zero',
      'mkdir -p a/b; chmod 000 a; exit 1',
      'ln -s / root; mkfifo pipe',
      // At level none this kills the supervisor, and the job fails with an error of skillcell.
      level === 'none' ? 'kill -9 0; sleep 1' : 'kill -9 $PPID; sleep 1',
    ];
    const before = sandboxProcesses().length;
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        job({ language: 'bash', code: codes[index % codes.length] ?? '', limits: { runTimeoutMs: 400, graceMs: 100 } }),
      ),
    );
    const counts = new Map<string, number>();
    for (const { outcome } of results) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    expect(results.length).toBe(40);
    await until(() => sandboxProcesses().length <= before, 'the end of all processes');
    evidence([...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', '));
  },
);

attack(
  'F22',
  'keeps its deadline by a clock that cannot be set',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    // Limits do not use the wall clock, which is changed only for this process.
    const real = Date.now;
    const shifted = plainly('bash', 'sleep 0.1');
    Date.now = () => real() + 3_600_000;
    try {
      const result = await job({ language: 'bash', code: 'sleep 0.5; echo through', limits: { runTimeoutMs: 5_000 } });
      expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: 'through\n' } });
      Date.now = () => real() - 3_600_000;
      const elapsedMs = startQuietClock();
      const late = await job({ language: 'bash', code: 'sleep 60', limits: { runTimeoutMs: 400, graceMs: 100 } });
      expect(late.outcome).toBe('timeout');
      expect(elapsedMs()).toBeLessThan(4_000);
    } finally {
      Date.now = real;
    }
    await shifted;
    evidence('an hour forward: no deadline passed; an hour back: the deadline passed in time');
  },
);
