import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobLimits } from '../../../src/contracts/jobs/limits.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createModelGateway } from '../../../src/models/gateways/create-model-gateway.ts';
import type { ModelGateway } from '../../../src/models/model-gateway.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { JobStream, Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { dockerImage, MISSING_ENGINE } from '../../fixtures/docker-image.ts';
import { describeWith, MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_LEVEL, requireLevel } from '../../fixtures/levels.ts';
import { startModelStandIn } from '../../fixtures/model-stand-in.ts';
import { IS_SAMPLE, shareOf } from '../../fixtures/share.ts';
import {
  type Ending,
  expectedOutput,
  outputProgram,
  WAITING,
  type Way,
} from '../../fixtures/output/output-programs.ts';

const MIB = 1024 * 1024;
/** Enough for the output of the largest program. */
const KEPT = 32 * MIB;
const LARGE = 25_000_000;
const LARGE_BLOCKS = 381 * 64 * 1024;
const BLOCKS = 5 * 64 * 1024;

type Language = 'javascript' | 'typescript' | 'python' | 'bash';
type Row = [ending: Ending, way: Way, bytes: number, part?: 'each change'];

/** Each ending, way of writing and size at least once in each language; costly values not in all combinations. */
const TABLE: Record<Language, Row[]> = {
  javascript: [
    ['throw', 'lines', 10],
    ['exit', 'lines', 10_000],
    ['exit', 'bytes', 10_000],
    ['exit', 'lines', 300_000],
    ['exit', 'bytes', 300_000],
    ['exit listener', 'write', 300_000, 'each change'],
    ['throw', 'lines', 300_000, 'each change'],
    ['rejection', 'both', 300_000, 'each change'],
    ['SIGKILL', 'blocks', BLOCKS, 'each change'],
    ['timeout', 'write', 300_000],
    ['cancel', 'both', 300_000],
    ['end', 'worker', 300_000, 'each change'],
    ['exit', 'node child', 300_000, 'each change'],
    ['exit', 'child', LARGE],
    ['end', 'blocks', LARGE_BLOCKS],
    ['SIGKILL', 'blocks', LARGE_BLOCKS],
    ['timeout', 'blocks', LARGE_BLOCKS],
    ['cancel', 'blocks', LARGE_BLOCKS],
    ['end', 'lines', LARGE],
  ],
  typescript: [
    ['SIGKILL', 'bytes', 10],
    ['throw', 'both', 10_000],
    ['exit', 'lines', 300_000, 'each change'],
    ['end', 'write', LARGE],
  ],
  python: [
    ['_exit', 'lines', 10],
    ['exit listener', 'both', 10_000],
    ['timeout', 'lines', 10_000],
    ['exit', 'write', 300_000],
    ['throw', 'lines', 300_000, 'each change'],
    ['_exit', 'lines', 300_000, 'each change'],
    ['SIGKILL', 'write', 300_000],
    ['cancel', 'both', 300_000, 'each change'],
    ['end', 'bytes', 300_000],
    ['exit', 'child', 300_000, 'each change'],
    ['_exit', 'blocks', LARGE_BLOCKS],
  ],
  bash: [
    ['exit listener', 'lines', 10, 'each change'],
    ['end', 'lines', 10_000],
    ['exit', 'bytes', 10_000, 'each change'],
    ['throw', 'both', 10_000],
    ['SIGKILL', 'write', 10_000, 'each change'],
    ['cancel', 'lines', 10_000],
    ['timeout', 'child', 300_000],
    ['exit', 'write', 300_000],
    ['end', 'child', LARGE],
  ],
};

/** A typical first program: 8,890 bytes of output. */
const NEWCOMER: Record<Language, string> = {
  javascript: `for (let i = 0; i < 1000; i++) console.log('line ' + i); process.exit(0)`,
  typescript: `for (let i: number = 0; i < 1000; i++) console.log('line ' + i); process.exit(0)`,
  python: `import sys\nfor i in range(1000): print(f'line {i}')\nsys.exit(0)`,
  bash: `for ((i = 0; i < 1000; i++)); do echo "line $i"; done; exit 0`,
};
const NEWCOMER_TEXT = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`).join('');

/** Count and digest, so that the output of a failed comparison stays short. */
function digest(bytes: Uint8Array | string): string {
  return `${Buffer.byteLength(bytes)} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

interface Printed {
  result: JobResult;
  events: { stdout: Buffer; stderr: Buffer };
}

/** Reads a job to its end: the output of its events, and its result. */
async function read(job: JobStream, { pauseMs = 0, onWaiting = (): void => undefined } = {}): Promise<Printed> {
  const parts = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  for await (const event of job) {
    if (event.type !== 'output') continue;
    parts[event.stream].push(event.bytes);
    if (pauseMs > 0) await pause(pauseMs);
    if (Buffer.concat(parts.stderr.slice(-2)).toString().endsWith(WAITING)) onWaiting();
  }
  return {
    result: await job.result,
    events: { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) },
  };
}

/** Long timeouts: one write for each line takes long on a busy machine. */
function limitsFor(runTimeoutMs = 240_000): Partial<JobLimits> {
  return { keptOutputBytes: KEPT, graceMs: 500, runTimeoutMs, jobTimeoutMs: 250_000 };
}

/** First timeout of a run that waits for its timeout. If it ended before all was written, the timeout is doubled. */
const FIRST_TIME_MS = 1_000;

const OUTCOMES: Partial<Record<Ending, string>> = {
  throw: 'failed',
  rejection: 'failed',
  SIGKILL: 'failed',
  timeout: 'timeout',
  cancel: 'canceled',
};
/** Endings that add text to stderr. */
const SPEAKS: readonly Ending[] = ['throw', 'rejection', 'SIGKILL'];

async function expectAll(orchestrator: Orchestrator, level: Level, language: Language, row: Row): Promise<JobResult> {
  const [ending, way, bytes] = row;
  const code = outputProgram(language, ending, way, bytes);
  for (let timeMs = FIRST_TIME_MS; ; timeMs *= 2) {
    const limits = limitsFor(ending === 'timeout' ? timeMs : undefined);
    const job = orchestrator.stream({ kind: 'exec', isolation: level, language, code, limits });
    let isWaiting = false;
    const onWaiting = (): void => {
      isWaiting = true;
      if (ending === 'cancel') orchestrator.cancel(job.jobId);
    };
    const printed = await read(job, { onWaiting });
    if (ending === 'timeout' && !isWaiting) continue;
    expectBytes(printed, row);
    return printed.result;
  }
}

function expectBytes({ result, events }: Printed, [ending, way, bytes]: Row): void {
  const expected = expectedOutput(ending, way, bytes);
  const own = (stderr: Uint8Array): Uint8Array =>
    SPEAKS.includes(ending) ? stderr.subarray(0, expected.stderr.length) : stderr;
  const text = { stdout: Buffer.from(result.stdout.text), stderr: Buffer.from(result.stderr.text) };
  expect({
    outcome: result.outcome,
    stdout: { counted: result.stdout.bytes, kept: digest(text.stdout), events: digest(events.stdout) },
    stderr: { kept: digest(own(text.stderr)), events: digest(own(events.stderr)) },
    truncated: [result.stdout.truncated, result.stderr.truncated],
  }).toEqual({
    outcome: OUTCOMES[ending] ?? 'succeeded',
    stdout: {
      counted: expected.stdout.length,
      kept: digest(expected.stdout),
      events: digest(expected.stdout),
    },
    stderr: { kept: digest(expected.stderr), events: digest(expected.stderr) },
    truncated: [false, false],
  });
  expect(result.stderr.bytes).toBe(text.stderr.length);
}

type Level = 'none' | 'namespace' | 'container';
const LANGUAGES = Object.keys(TABLE) as Language[];
const LEVELS: Level[] = ['none', 'namespace', 'container'];
/** Each ending but the timeout, and each way of writing, in one language; no row with much output. */
const isForEachChange = ([, , , part]: Row): boolean => part === 'each change';
/** All rows at the best level; the other levels share them, since output does not depend on the level. */
const rowsAt = (level: Level, language: Language): readonly Row[] =>
  level === BEST_LEVEL
    ? shareOf(TABLE[language], isForEachChange)
    : TABLE[language].filter((_, index) => index % 2 === (level === 'container' ? 1 : 0));

/** The same for the first programs. */
const languagesAt = (level: Level): readonly Language[] =>
  level === BEST_LEVEL
    ? shareOf(LANGUAGES, (language) => language === 'javascript' || language === 'python')
    : LANGUAGES;

const open = async (level: Level, warm?: Language[], model?: ModelGateway): Promise<Orchestrator> =>
  createOrchestrator({
    sweepIntervalMs: 0,
    ...(level === 'container' ? { runners: [createDockerRunner({ bundle: (await dockerImage()).bundle })] } : {}),
    ...(warm === undefined ? {} : { pool: { size: 1, isolation: level, languages: warm } }),
    ...(model === undefined ? {} : { model }),
  });

describe.each(IS_SAMPLE ? [BEST_LEVEL] : LEVELS)('output of a program at level %s', (level) => {
  describeWith('arrives', level === 'container' ? MISSING_ENGINE : undefined, () => {
    let orchestrator: Orchestrator;
    beforeEach((context) => {
      if (level !== 'container') requireLevel(context, level);
    });
    beforeAll(async (): Promise<void> => void (orchestrator = await open(level)), 120_000);
    afterAll(async () => await orchestrator.close());

    describe.each(LANGUAGES)('%s', (language) => {
      beforeEach((context) => requireHere(context, language === 'python' ? MISSING_PYTHON : undefined));
      it.each(rowsAt(level, language))(
        'if the program ends by %s, written by %s, %i bytes',
        { timeout: 300_000 },
        async (...row) => {
          await expectAll(orchestrator, level, language, row);
        },
      );
    });

    it.for(languagesAt(level))(
      'of a first program in %s, cold and warm',
      { timeout: 300_000 },
      async (language, context) => {
        requireHere(context, language === 'python' ? MISSING_PYTHON : undefined);
        const job = { isolation: level, language, code: NEWCOMER[language] };
        const cold = await orchestrator.exec(job);
        await using pooled = await open(level, [language]);
        await pooled.warm();
        const warm = await pooled.exec(job);
        expect([cold, warm].map(({ usage }) => usage.warm)).toEqual([false, true]);
        for (const { outcome, stdout, stderr } of [cold, warm]) {
          expect({ outcome, stdout, stderr: stderr.text }).toEqual({
            outcome: 'succeeded',
            stdout: { text: NEWCOMER_TEXT, bytes: 8_890, truncated: false },
            stderr: '',
          });
        }
      },
    );

    if (IS_SAMPLE) return;
    it('from a warm sandbox, a thousand lines or 25 MB', { timeout: 300_000 }, async () => {
      for (const row of [
        ['throw', 'lines', 10_000],
        ['exit', 'blocks', LARGE_BLOCKS],
      ] satisfies Row[]) {
        await using pooled = await open(level, ['javascript']);
        await pooled.warm();
        expect((await expectAll(pooled, level, 'javascript', row)).usage.warm).toBe(true);
      }
    });

    it('completely at a slow reader of events', { timeout: 300_000 }, async () => {
      const row = ['exit', 'blocks', LARGE_BLOCKS] satisfies Row;
      const code = outputProgram('javascript', ...row);
      const job = orchestrator.stream({ kind: 'exec', isolation: level, code, limits: limitsFor() });
      expectBytes(await read(job, { pauseMs: 5 }), row);
    });

    it('as its beginning and the exact total count, if less is kept', { timeout: 300_000 }, async () => {
      const code = outputProgram('javascript', 'exit', 'blocks', LARGE_BLOCKS);
      const { result, events } = await read(orchestrator.stream({ kind: 'exec', isolation: level, code }));
      const kept = expectedOutput('exit', 'blocks', LARGE_BLOCKS).stdout.subarray(0, MIB);
      expect(result).toMatchObject({ outcome: 'succeeded', stdout: { bytes: LARGE_BLOCKS, truncated: true } });
      expect([digest(result.stdout.text), digest(events.stdout)]).toEqual([digest(kept), digest(kept)]);
    });

    it('with a diagnostic if a hidden process may still write', { timeout: 300_000 }, async () => {
      const hides =
        '(env -i setsid sh -c ": >hidden; sleep 5; echo later" &)\nuntil [ -e hidden ]; do sleep 0.01; done';
      const code = `${hides}\necho first`;
      const { outcome, stdout, diagnostics } = await orchestrator.exec({ isolation: level, language: 'bash', code });
      expect({ outcome, stdout: stdout.text }).toEqual({ outcome: 'succeeded', stdout: 'first\n' });
      // Only at level none can the process escape its end.
      const told = diagnostics.filter((row) => row.code.startsWith('output.')).map((row) => row.code);
      expect(told).toEqual(level === 'none' ? ['output.incomplete'] : []);
    });

    it('from each attempt of a model, including the repeated one', { timeout: 300_000 }, async () => {
      const answer = (code: string): string => `\`\`\`javascript\n${code}\n\`\`\``;
      const first = outputProgram('javascript', 'throw', 'lines', 300_000);
      const second = outputProgram('javascript', 'exit', 'blocks', BLOCKS);
      await using standIn = await startModelStandIn([answer(first), answer(second)]);
      const model = createModelGateway({
        provider: 'openai-compatible',
        baseUrl: standIn.baseUrl,
        apiKey: 'none',
        model: 'm',
      });
      await using own = await open(level, undefined, model);
      const job = own.stream({ kind: 'codegen', isolation: level, task: 'Print.', limits: limitsFor() });
      const { result, events } = await read(job);
      const all = Buffer.concat(
        [expectedOutput('throw', 'lines', 300_000), expectedOutput('exit', 'blocks', BLOCKS)].map(
          ({ stdout }) => stdout,
        ),
      );
      expect([result.outcome, result.codegen?.attempts.length, digest(result.stdout.text)]).toEqual([
        'succeeded',
        2,
        digest(all.subarray(300_000)),
      ]);
      expect(digest(events.stdout)).toBe(digest(all));
    });
  });
});
