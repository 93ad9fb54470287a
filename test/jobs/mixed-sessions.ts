import { expect } from 'vitest';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import type { Isolation, JobResult } from '../../src/contracts/jobs/result.ts';
import type { Session, SessionRun } from '../../src/contracts/jobs/session.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { MISSING_PYTHON } from '../fixtures/describe-with.ts';
import { CONSUMERS, type Consumer, type Seen } from './mixed-work.ts';

/** One session, and the data that only it may see. */
interface SessionCase {
  id: string;
  consumer: Consumer;
  language: 'javascript' | 'python';
  tool: 'box.left' | 'box.right';
  context: object;
  /** Steps of its runs, in order. */
  steps: Step[];
}

/** `lose` ends the interpreter: definitions are gone, files are kept. */
type Step = 'remember' | 'call' | 'read' | 'file' | 'print' | 'lose' | 'interrupt';
const STEPS: readonly [Step, ...Step[]] = ['remember', 'call', 'read', 'file', 'print', 'lose', 'interrupt'];

/** Opens `count` sessions, runs random steps in them, and checks that none has seen data of another. */
export async function runMixedSessions(
  orchestrator: Orchestrator,
  random: SeededRandom,
  { count, isolation, seen }: { count: number; isolation: Isolation; seen: readonly Seen[] },
): Promise<void> {
  const cases = Array.from({ length: count }, (_, index) => someCase(random, `session-${isolation}-${index}`));
  await Promise.all(
    cases.map(async (given) => {
      const { id, consumer, language, tool, context } = given;
      await using session = await orchestrator.session({
        ...{ sessionId: id, isolation, language, context },
        files: { [`${id}.txt`]: id },
        skills: { refs: [`custom.${consumer}`], consumer },
        tools: [tool, 'skills.read'],
        limits: { graceMs: 5_000 },
      });
      await followSteps(given, session);
      expectOwn(given, await session.close(), seen);
    }),
  );
}

function someCase(random: SeededRandom, id: string): SessionCase {
  return {
    id,
    consumer: random.pick(CONSUMERS),
    language:
      MISSING_PYTHON === undefined ? random.pick<SessionCase['language']>(['javascript', 'python']) : 'javascript',
    tool: random.pick(['box.left', 'box.right']),
    context: { secretOf: id },
    steps: Array.from({ length: random.between(5, 12) }, () => random.pick(STEPS)),
  };
}

async function followSteps(given: SessionCase, session: Session): Promise<void> {
  const { id, consumer, language, tool, steps } = given;
  const wrong = CONSUMERS.find((name) => name !== consumer);
  const inPython = language === 'python';
  const run = async (code: string): Promise<SessionRun> => await eventsOwn(given, session, code);
  const imports = inPython ? 'from skillcell import tools, ToolCallError' : "import { tools } from 'skillcell'";
  await run(`${imports}\nmine = ${JSON.stringify(id)}`);
  let epoch = 1;
  for (const [index, step] of steps.entries()) {
    const text = `out of ${id}, step ${index}`;
    if (step === 'remember') {
      expect((await run('mine')).value).toBe(id);
    } else if (step === 'call') {
      const call = inPython
        ? `tools.call('${tool}', {'tag': mine, 'bytes': b'${id}'}).decode()`
        : `Buffer.from(await tools.call('${tool}', { tag: mine, bytes: Buffer.from('${id}') })).toString()`;
      expect((await run(call)).value).toBe([...id].toReversed().join(''));
    } else if (step === 'read') {
      const denied = inPython
        ? `try:\n  tools.skills.read(skill='custom.${wrong}', path='where.txt')\nexcept ToolCallError as error:\n  found = error.code\n[tools.skills.read(skill='custom.${consumer}', path='where.txt')['text'], found]`
        : `[(await tools.skills.read({ skill: 'custom.${consumer}', path: 'where.txt' })).text, await tools.skills.read({ skill: 'custom.${wrong}', path: 'where.txt' }).then(() => 'read', (error) => error.code)]`;
      expect((await run(denied)).value).toEqual([`in the ${consumer}`, 'tool.failed']);
    } else if (step === 'file') {
      await session.files.write('note.txt', text);
      const read = inPython ? "open('note.txt').read()" : "require('node:fs').readFileSync('note.txt', 'utf8')";
      expect((await run(read)).value).toBe(text);
      expect((await session.files.list()).map(({ path }) => path)).toEqual(['note.txt', 'out', `${id}.txt`].toSorted());
    } else if (step === 'print') {
      const printed = await run(inPython ? `print('${text}')` : `console.log('${text}')`);
      expect(printed).toMatchObject({ outcome: 'succeeded', stdout: { text: `${text}\n` } });
    } else if (step === 'interrupt') {
      const stream = session.stream(inPython ? "print('on')\nwhile True: pass" : "console.log('on'); for (;;) {}");
      for await (const event of stream) if (event.type === 'output') session.interrupt();
      expect(await stream.result).toMatchObject({ outcome: 'canceled', state: 'kept', epoch });
    } else {
      expect(await run(inPython ? 'import os; os._exit(3)' : 'process.exit(3)')).toMatchObject({
        state: 'lost',
        epoch,
      });
      epoch += 1;
      const gone = inPython ? "'mine' in globals()" : "typeof mine !== 'undefined'";
      expect(await run(gone)).toMatchObject({ value: false, epoch });
      await run(`${imports}\nmine = ${JSON.stringify(id)}`);
    }
  }
  expect(await session.files.read(`${id}.txt`, 'utf8')).toBe(id);
}

/** Runs code, and checks that its events belong to this session and run. */
async function eventsOwn({ id }: SessionCase, session: Session, code: string): Promise<SessionRun> {
  const stream = session.stream(code);
  const events: JobEvent[] = [];
  for await (const event of stream) events.push(event);
  const run = await stream.result;
  expect(new Set(events.map(({ jobId }) => jobId))).toEqual(new Set([id]));
  expect(events.flatMap((event) => (event.type === 'run' ? [event.run] : []))).toEqual([run.run]);
  expect(events.map((event) => (event.type === 'output' && event.stream === 'stdout' ? event.text : '')).join('')).toBe(
    run.stdout.text,
  );
  const told = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  expect(told.toSorted((a, b) => a.id - b.id)).toEqual(run.calls);
  return run;
}

function expectOwn({ id, consumer, tool, context, steps }: SessionCase, job: JobResult, seen: readonly Seen[]): void {
  const count = (step: Step): number => steps.filter((one) => one === step).length;
  const [calls, reads] = [count('call'), count('read')];
  expect(job).toMatchObject({ jobId: id, kind: 'session', outcome: 'succeeded' });
  expect(job.skills.active).toEqual(reads === 0 ? job.skills.active : [`custom.${consumer}`]);
  expect(job.callTotals).toEqual({
    ...(calls === 0 ? {} : { [tool]: { calls, failed: 0, replayed: 0 } }),
    ...(reads === 0 ? {} : { 'skills.read': { calls: reads * 2, failed: reads, replayed: 0 } }),
  });
  expect(seen.filter((row) => row.jobId === id || row.tag === id)).toEqual(
    Array.from({ length: calls }, () => ({ tool, tag: id, jobId: id, context, attempt: 1 })),
  );
}
