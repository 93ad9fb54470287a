import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createBroker } from '../../../src/tools/calls/broker.ts';
import { defineTool } from '../../../src/tools/define/tool.ts';
import type { ModelRequest } from '../../../src/models/model-gateway.ts';
import type { CodegenOptions } from '../../../src/contracts/jobs/job.ts';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { judgeResult } from '../../../src/jobs/result/judge-result.ts';
import { compileOutput } from '../../../src/jobs/request/output-schema.ts';
import type { PreparedJob } from '../../../src/jobs/prepare/prepare-job.ts';
import type { SandboxResult } from '../../../src/protocol/messages/messages.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { ALL_LEVELS, type EachLevel, EVERY_LEVEL, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { share } from '../../fixtures/share.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';

const program = (code: string): string => programAnswer('javascript', code);
const rows = z.object({ rows: z.int().min(1) });

async function run(
  answers: string[],
  job: Partial<CodegenOptions>,
): Promise<{ result: JobResult; asked: ModelRequest[] }> {
  const model = scriptedModel(answers);
  await using orchestrator = createOrchestrator({ model, runners: await everyRunner() });
  return { result: await orchestrator.codegen({ task: 'Count the rows.', ...job }), asked: model.asked };
}

describe.each(EVERY_LEVEL)('the value of a job at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  it('is repaired with the reason if it was left out', async () => {
    const answers = [program('export default "x".repeat(300_000);'), program('export default "x";')];
    const { result, asked } = await run(answers, { isolation, outputs: { value: z.string() } });
    expect(result).toMatchObject({ outcome: 'succeeded', value: 'x', codegen: { attempts: [{}, {}] } });
    expect(asked[1]?.messages.at(-1)?.content).toContain('The value is left out: over 262144 bytes, got 300002.');
  });

  it('is judged by the host, and repaired with its faults', async () => {
    const value = rows.transform(({ rows: count }) => ({ count }));
    const answers = [
      program('console.log(1);'),
      program('export default { rows: "many" };'),
      program('export default { rows: 3 };'),
    ];
    const { result, asked } = await run(answers, { isolation, outputs: { value } });
    expect(result).toMatchObject({
      outcome: 'succeeded',
      value: { count: 3 },
      contract: { satisfied: true, missing: [] },
      codegen: { attempts: [{ outcome: 'failed' }, { outcome: 'failed' }, { outcome: 'succeeded' }] },
    });
    expect(asked[0]?.messages[0]?.content).toMatch(
      /must hand back, as JSON schema:\n\{"type":"object","properties":\{"rows"/,
    );
    const [none, wrong] = [1, 2].map((index) => asked[index]?.messages.at(-1)?.content);
    expect(none).toContain('ContractError: The value does not fit: it is missing.');
    expect(wrong).toMatch(/does not fit: rows: .*expected (int|number)/);
    expect(result.calls.filter(({ target }) => target === 'host')).toMatchObject([
      { name: 'judge', ok: true },
      { name: 'judge', ok: true },
    ]);
  });

  it('fails the job if it never fits, and missing files are named as well', async () => {
    const answer = program(
      "import { writeFileSync } from 'node:fs'; writeFileSync(`${process.env.SKILLCELL_OUTPUT}/a`, ''); export default { rows: 0 };",
    );
    const job = { isolation, maxAttempts: 2, expect: ['a'] };
    const { result } = await run([answer, answer], { ...job, outputs: { files: ['a'], value: rows } });
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { name: 'ContractError', message: expect.stringMatching(/does not fit: rows: /) as string },
      contract: { satisfied: false, missing: [] },
    });
    const { result: missing } = await run([answer, answer], { ...job, outputs: { files: ['b'] } });
    expect(missing).toMatchObject({ outcome: 'failed', contract: { satisfied: false, missing: ['b'] } });
  });
});

describe('the attempt that ended its job', () => {
  const tool = defineTool({ id: 'count', description: 'Counts.', execute: async () => 1 });
  const calling = "import { tools } from 'skillcell';\nconsole.log('began');\n";
  const endings = {
    calls: ['for (;;) await tools.count({}).catch(() => undefined);', { outcome: 'limit', limit: 'calls' }],
    time: ['await tools.count({});\nawait new Promise(() => setInterval(() => {}, 1_000));', { outcome: 'timeout' }],
  } as const;
  type Row = [EachLevel, keyof typeof endings];
  const calls = EVERY_LEVEL.map((level): Row => [level, 'calls']);
  // The end of its time takes ten seconds.
  const time = share<EachLevel>([], ALL_LEVELS).map((level): Row => [level, 'time']);
  it.for([...calls, ...time])(
    'at level %s is kept with its program, if it exceeded its %s',
    async ([isolation, name], context) => {
      requireEachLevel(context, isolation);
      const [code, ending] = endings[name];
      const failing = program(`${calling}throw new Error('first');`);
      const model = scriptedModel([failing, program(calling + code)]);
      await using orchestrator = createOrchestrator({ model, runners: await everyRunner(), tools: [tool] });
      const job = {
        isolation,
        task: 'Count.',
        tools: ['count'],
        budget: { toolCalls: 3 },
        limits: { jobTimeoutMs: ending.outcome === 'timeout' ? 10_000 : 60_000 },
      };
      const result = await orchestrator.codegen(job);
      expect(result).toMatchObject({
        ...ending,
        error: {
          message: expect.stringMatching(/The job (may make 3 calls of tools|took longer than 10 s)\./) as string,
        },
        codegen: { attempts: [{ outcome: 'failed' }, { outcome: ending.outcome, code: `${calling}${code}\n` }] },
      });
    },
  );
});

describe('a required value', () => {
  it('is not required of a dry run, and cannot be given by a text', async () => {
    const { result: dry } = await run([], { isolation: 'none', dryRun: true, outputs: { value: rows } });
    expect(dry).toMatchObject({ outcome: 'succeeded', value: { system: expect.any(String) as string } });
    expect(dry.contract).toBeUndefined();
    const text = '```skillcell-decision\n{ "action": "text", "text": "Three." }\n```';
    const { result, asked } = await run([text, text], { select: true, outputs: { value: rows } });
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { name: 'DecisionError' },
      contract: { satisfied: false },
    });
    expect(asked[0]?.messages[0]?.content).toContain('Value that the program has to hand back');
  });

  it('may be described by a JSON schema, if it can be enforced', async () => {
    const value = { type: 'object', required: ['rows'], properties: { rows: { const: 3 } } };
    const answers = [program('export default { rows: 4 };'), program('export default { rows: 3 };')];
    const { result } = await run(answers, { isolation: BEST_LEVEL, outputs: { value } });
    expect(result).toMatchObject({ outcome: 'succeeded', value: { rows: 3 }, codegen: { attempts: [{}, {}] } });
    const refused = run([], { outputs: { value: { $dynamicRef: '#x' } } });
    await expect(refused).rejects.toMatchObject({ code: 'tool.schema-unsupported' });
  });

  it('may be described by a schema that is a function, as in other libraries', async () => {
    const callable = Object.assign(() => undefined, {
      '~standard': {
        vendor: 'example',
        jsonSchema: { input: () => ({ type: 'number' }), output: () => ({ type: 'number' }) },
        validate: (given: unknown) => (given === 3 ? { value: 'three' } : { issues: [{ message: 'must be 3' }] }),
      },
    });
    const outputs = { value: callable };
    const { result } = await run([program('export default 3;')], { isolation: BEST_LEVEL, outputs });
    expect(result).toMatchObject({ outcome: 'succeeded', value: 'three' });
  });

  it.each(
    share<[string, z.ZodType, string]>(
      [['a Map', z.number().transform((count) => new Map([[1, count]])), 'an object that is a Map is no JSON value']],
      [
        [
          'a BigInt',
          z.number().transform((count) => ({ count: BigInt(count) })),
          'a bigint is no JSON value, at count',
        ],
        ['bytes', z.number().transform((count) => new Uint8Array(count)), 'over 0 bytes'],
      ],
    ),
  )('fails the job if its schema transforms it to %s', async (_name, value, fault) => {
    const { result } = await run([program('export default 3;')], {
      isolation: BEST_LEVEL,
      outputs: { value },
      maxAttempts: 1,
    });
    expect(result).toMatchObject({ outcome: 'failed', error: { name: 'ContractError' } });
    expect(result.error?.message).toContain(`its schema transforms it to a value that cannot be kept: ${fault}`);
  });

  it('is JSON if its schema transforms it to a date', async () => {
    const value = z.number().transform((ms) => new Date(ms));
    const { result } = await run([program('export default 0;')], { isolation: BEST_LEVEL, outputs: { value } });
    expect(result).toMatchObject({ outcome: 'succeeded', value: '1970-01-01T00:00:00.000Z' });
  });

  it.each([
    { value: 5 },
    { value: { type: 'nothing' } },
    { value: z.custom(() => true) },
    { files: ['../a'] },
    { file: ['a'] },
    [],
  ])('of an invalid form is refused before the model is asked: %#', async (outputs) => {
    const refused = run([], { outputs: outputs as object });
    await expect(refused).rejects.toMatchObject({
      code: 'job.invalid',
      message: expect.stringContaining('outputs') as string,
    });
  });
});

describe('a value reported by a sandbox', () => {
  const said = (more: Partial<SandboxResult>): SandboxResult => ({
    outcome: 'succeeded',
    exitCode: 0,
    signal: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    omitted: [],
    sources: [],
    diagnostics: [],
    runMs: 0,
    ...more,
  });
  const job = async (schema: z.ZodType): Promise<PreparedJob> =>
    ({
      valueSchema: await compileOutput(schema, 'it'),
      globals: { JOB: { codegen: { dryRun: false } } },
    }) as unknown as PreparedJob;

  it('is judged again, independent of earlier verdicts', async () => {
    const lied = await judgeResult(said({ value: { rows: 'many' } }), await job(rows));
    expect(lied).toMatchObject({ outcome: 'failed', error: { name: 'ContractError' } });
    expect(await judgeResult(said({}), await job(rows))).toMatchObject({ outcome: 'failed' });
    expect(await judgeResult(said({ value: { rows: 1 } }), await job(rows))).toMatchObject({ outcome: 'succeeded' });
    const failed = said({ outcome: 'timeout', value: 3 });
    expect(await judgeResult(failed, await job(rows))).toBe(failed);
  });

  it('fails the job if its schema throws', async () => {
    const throwing = z.number().refine(() => {
      throw new Error('of the host');
    });
    const judged = await judgeResult(said({ value: 3 }), await job(throwing));
    expect(judged).toMatchObject({
      outcome: 'failed',
      error: { message: expect.not.stringContaining('of the host') as string },
    });
  });

  it('is judged on request only by a host with that call', async () => {
    const limits = DEFAULT_LIMITS;
    const signal = new AbortController().signal;
    const answer = async (value: unknown) => ({ ok: true, value: value === 1 ? {} : { fault: 'not one' } });
    const host = new Map([['judge', answer]]);
    const ask = (id: number, name: string, args: unknown, more = {}) =>
      createBroker({ jobId: 'j', tools: new Map(), limits, ...more }).call(
        { id, target: 'host', name, args },
        { signal },
      );
    expect(await ask(1, 'judge', 1)).toMatchObject({ ok: false, error: { code: 'tool.not-allowed' } });
    expect(await ask(1, 'approve', 1, { host })).toMatchObject({ ok: false, error: { code: 'tool.not-allowed' } });
    expect(await ask(1, 'judge', 1, { host })).toEqual({ ok: true, value: {} });
    expect(await ask(1, 'judge', 2, { host })).toEqual({ ok: true, value: { fault: 'not one' } });
    expect(await ask(1, 'judge', 'x'.repeat(5 * 1024 * 1024), { host })).toMatchObject({
      ok: false,
      error: { code: 'tool.invalid-arguments', message: expect.stringContaining('over') as string },
    });
  });
});
