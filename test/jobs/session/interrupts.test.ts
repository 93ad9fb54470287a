import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/tools/define/tool.ts';
import type { Language } from '../../../src/contracts/jobs/language.ts';
import type { Session, SessionOptions } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel, type EachLevel, runnerOf } from '../../fixtures/every-level.ts';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true, tools: [SLOW] });
});
afterAll(() => orchestrator.close());

const SLOW: Tool = { id: 'slow', description: 'Takes its time.', effect: 'read', execute: () => pause(60_000) };

const open = (level: EachLevel, options: SessionOptions): Promise<Session> =>
  orchestrator.session({ isolation: level, runner: runnerOf(level), ...options });

const LOOPS: [Language, string][] = [
  ['javascript', 'for (;;) {}'],
  ['python', 'while True: pass'],
  ['bash', 'while :; do :; done'],
];
/** Sends 200 calls that get no answer, and prints a line. */
const MANY_CALLS: [Language, string][] = [
  [
    'javascript',
    "import { tools } from 'skillcell'; const all = Array.from({ length: 200 }, () => tools.slow({})); await new Promise((resolve) => setTimeout(resolve, 300)); console.log('sent'); await Promise.all(all);",
  ],
  [
    'python',
    `import asyncio, skillcell
all = [asyncio.ensure_future(skillcell.tools.slow.aio()) for _ in range(200)]
await asyncio.sleep(0.3)
print('sent', flush=True)
await asyncio.gather(*all)`,
  ],
];
/** Waits for its child in a blocking call that an interrupt cannot end; the child writes about a second after the interrupt. */
const READS_A_PIPE = `import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
execFileSync('mkfifo', ['pipe']);
spawn('sh', ['-c', "trap '' INT; sleep 2; echo hello > pipe"]);
console.log('reads');
readFileSync('pipe');
console.log('read');
for (;;) {}`;
/** Milliseconds after the call of `run`: most interrupts come before the interpreter runs the code, or even exists. */
const MOMENTS = [0, 0, 0, 1, 2, 3, 5, 30];

describe.each(ALL_LEVELS)('a session at level %s', (level) => {
  it.for(LOOPS)('in %s is interrupted at any moment', async ([language, loop], context) => {
    requireEachLevel(context, level);
    if (language === 'python') requireHere(context, MISSING_PYTHON);
    await using session = await open(level, { language });
    for (const moment of MOMENTS) {
      const { result } = session.stream(loop);
      await new Promise((resolve) => setTimeout(resolve, moment));
      expect(session.interrupt()).toBe(true);
      expect(await result).toMatchObject({ outcome: 'canceled', state: 'kept', epoch: 1 });
    }
    expect(await session.run('true', { language: 'bash' })).toMatchObject({ outcome: 'succeeded', epoch: 1 });
  });

  it('in javascript is stopped in its own code, and not in the code that prints for it', async (context) => {
    requireEachLevel(context, level);
    // The interpreter is interrupted repeatedly until its own code runs, which takes long on a busy machine.
    await using session = await open(level, { limits: { graceMs: 20_000 } });
    for (let round = 0; round < 10; round += 1) {
      const { result } = session.stream("for (;;) { console.log('again'); console.error('again'); }");
      await pause(20 + round);
      session.interrupt();
      expect(await result).toMatchObject({ outcome: 'canceled', state: 'kept' });
      const next = await session.run("console.log('next'); console.error('next')");
      expect(next).toMatchObject({ outcome: 'succeeded', stdout: { text: 'next\n' }, stderr: { text: 'next\n' } });
    }
  });

  it('in javascript is stopped as soon as a blocking call returns', async (context) => {
    requireEachLevel(context, level);
    await using session = await open(level, { limits: { graceMs: 20_000 } });
    const stream = session.stream(READS_A_PIPE);
    for await (const event of stream) if (event.type === 'output') break;
    await pause(100);
    session.interrupt();
    expect(await stream.result).toMatchObject({
      outcome: 'canceled',
      state: 'kept',
      stdout: { text: 'reads\nread\n' },
    });
    expect(await session.run('6 * 7')).toMatchObject({ value: 42, epoch: 1 });
  });

  it.for(MANY_CALLS)('in %s is kept when more calls are under way than allowed', async ([language, code], context) => {
    requireEachLevel(context, level);
    if (language === 'python') requireHere(context, MISSING_PYTHON);
    await using session = await open(level, { language, tools: ['slow'] });
    const stream = session.stream(code);
    for await (const event of stream) if (event.type === 'output') break;
    session.interrupt();
    expect(await stream.result).toMatchObject({ outcome: 'canceled', state: 'kept', epoch: 1 });
    expect(await session.run('6 * 7')).toMatchObject({ outcome: 'succeeded', value: 42, epoch: 1 });
  });
});

describe.each(['namespace', 'container'] as const)('a session at level %s at its process limit', (level) => {
  it('ends all processes if an interpreter cannot start, and reports it', async (context) => {
    requireEachLevel(context, level);
    requireHere(context, MISSING_PYTHON);
    await using session = await open(level, { language: 'python' });
    const code = `import subprocess
held = []
try:
    while len(held) < 500: held.append(subprocess.Popen(['sleep', '1000']))
except OSError: pass
len(held) < 500`;
    expect(await session.run(code)).toMatchObject({ state: 'kept', value: true });
    await expect(session.files.list()).rejects.toMatchObject({ code: 'file.unreadable' });
    const refused = await session.run('1', { language: 'javascript' });
    expect(refused).toMatchObject({ outcome: 'limit', limit: 'pids', state: 'lost', epoch: 1 });
    expect(refused.diagnostics.map(({ code: told }) => told)).toEqual(['session.lost']);
    expect(await session.run('1', { language: 'javascript' })).toMatchObject({ value: 1, epoch: 2 });
    expect(await session.files.list()).toMatchObject([{ path: 'out' }]);
  });
});
