import { describe, expect, it } from 'vitest';
import { ALL_LEVELS, type EachLevel, requireEachLevel } from '../../fixtures/every-level.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { CANARY } from '../../fixtures/traces/canary.ts';
import { type RecordedSpan, spanTree } from '../../fixtures/traces/recorded-span.ts';
import { runTraced, type ScenarioName } from '../../fixtures/traces/run-traced.ts';

const APIS = ['1.9', '1.10'] as const;
const TIMEOUT_MS = 240_000;

const EXEC_TREE = [
  'caller',
  '  job',
  '    start',
  '    attempt',
  '      run',
  '        call',
  '          own',
  '        call',
  '        call',
  '    collect',
];
const CODEGEN_TREE = [
  'caller',
  '  job',
  '    model',
  '      http',
  '    model',
  '      http',
  '    start',
  '    attempt',
  '      model',
  '        http',
  '      run',
  '      call',
  '    attempt',
  '      model',
  '        http',
  '      run',
  '        call',
  '          own',
  '        call',
  '        call',
  '    collect',
];

/** Attributes of the spans of one name. */
const saidOf = (spans: readonly RecordedSpan[], name: string): object[] =>
  spans.filter((span) => span.name === name).map(({ attributes }) => attributes);

const processes = new Map<string, ReturnType<typeof runTraced>>();
/** Each version and level has one process for all of its tests. */
function traced(api: (typeof APIS)[number], level: EachLevel): ReturnType<typeof runTraced> {
  const key = `${api} ${level}`;
  const scenarios: ScenarioName[] =
    level === BEST_LEVEL
      ? ['exec', 'codegen', 'endings', 'session', 'script', 'generate', 'refused', 'otherCopy']
      : ['exec', 'codegen', 'endings', 'session'];
  const started = processes.get(key) ?? runTraced({ scenarios, api, level });
  processes.set(key, started);
  return started;
}

/** The versions differ only in the host process, independent of the level: only one version is tried at all levels. */
const levelsOf = (api: (typeof APIS)[number]): readonly EachLevel[] =>
  ALL_LEVELS.filter((level) => api === '1.10' || level === BEST_LEVEL);

describe.each(APIS)('with a provider that was registered by @opentelemetry/api %s', { timeout: TIMEOUT_MS }, (api) => {
  describe.each(levelsOf(api))('at level %s', (level) => {
    it('the spans of a job are below its caller, and the spans of its tools below its calls', async (context) => {
      requireEachLevel(context, level);
      const { exec } = await traced(api, level);
      const { outcomes, spans, open, raw } = exec;
      expect(outcomes).toEqual(['succeeded']);
      expect(spanTree(exec)).toEqual(EXEC_TREE);
      expect(open).toEqual([]);
      expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1);
      expect(raw).not.toContain(CANARY);
      expect(spans.every(({ events }) => events === 0)).toBe(true);
      expect(saidOf(spans, 'start')).toEqual([
        {
          'skillcell.sandbox.runner': level === 'container' ? 'docker' : 'local',
          'skillcell.sandbox.isolation': level,
          'skillcell.sandbox.warm': false,
        },
      ]);
    });

    it('a codegen job has spans of its model requests, and of each attempt', async (context) => {
      requireEachLevel(context, level);
      const { codegen } = await traced(api, level);
      const { outcomes, spans, open, raw } = codegen;
      expect(outcomes).toEqual(['succeeded']);
      expect(spanTree(codegen)).toEqual(CODEGEN_TREE);
      expect(open).toEqual([]);
      expect(raw).not.toContain(CANARY);
      expect(spans.flatMap(({ name, error }) => (name === 'attempt' || name === 'run' ? [[name, error]] : []))).toEqual(
        [
          ['run', 'failed'],
          ['attempt', 'failed'],
          ['run', undefined],
          ['attempt', undefined],
        ],
      );
    });

    it('runs of a session are below their callers, and without a caller below its job', async (context) => {
      requireEachLevel(context, level);
      const { session } = await traced(api, level);
      const { outcomes, spans, open, raw } = session;
      expect(outcomes).toEqual(['succeeded', 'succeeded', 'failed', 'succeeded']);
      expect(spanTree(session)).toEqual([
        'opener',
        '  job',
        '    start',
        '    run',
        '      call',
        '        own',
        'request',
        '  run',
        '    call',
        '      own',
        'request',
        '  run',
      ]);
      const ofRun = (run: number): object => ({ 'skillcell.job.id': 'session-1', 'skillcell.run.number': run });
      expect(saidOf(spans, 'run')).toEqual([ofRun(1), ofRun(2), { ...ofRun(3), 'error.type': 'failed' }]);
      expect(saidOf(spans, 'job')).toEqual([
        expect.objectContaining({ 'skillcell.job.id': 'session-1', 'skillcell.job.kind': 'session' }),
      ]);
      expect(open).toEqual([]);
      expect(raw).not.toContain(CANARY);
    });

    it('every span ends with the reason, for each ending of its job', async (context) => {
      requireEachLevel(context, level);
      const { endings } = await traced(api, level);
      const { outcomes, spans, open, raw } = endings;
      const reasons = ['failed', 'job.invalid', 'timeout', 'canceled', 'canceled', 'model.failed', 'sandbox.lost'];
      expect(outcomes).toEqual(reasons);
      expect(open).toEqual([]);
      expect(raw).not.toContain(CANARY);
      const errorsOf = (name: string): unknown[] => spans.flatMap((span) => (span.name === name ? [span.error] : []));
      expect(errorsOf('job')).toEqual(reasons);
      expect(errorsOf('run')).toEqual(['failed', 'timeout', 'canceled', 'sandbox.lost']);
      expect(errorsOf('call')).toEqual(['tool.job-over']);
      expect(errorsOf('model')).toEqual(['model.failed']);
      expect(spans.every(({ error, attributes }) => error === attributes['error.type'])).toBe(true);
      // The list is in the order of the ends of the spans.
      const endOf = new Map(spans.map(({ id }, index) => [id, index]));
      for (const { id, parent, name } of spans)
        if (parent !== undefined) expect(endOf.get(id), name).toBeLessThan(endOf.get(parent) ?? -1);
    });
  });

  it('scripts and generations have spans too', async () => {
    const { script, generate } = await traced(api, BEST_LEVEL);
    expect(script.outcomes).toEqual(['succeeded']);
    expect(spanTree(script)).toEqual(['caller', '  job', '    start', '    attempt', '      run', '    collect']);
    expect(saidOf(script.spans, 'job')).toEqual([
      expect.objectContaining({ 'skillcell.job.kind': 'script', 'skillcell.skill.ids': ['custom.gauge'] }),
    ]);
    expect(spanTree(generate)).toEqual(['caller', '  job', '    model', '      http']);
    expect(saidOf(generate.spans, 'model')).toEqual([askedAt('generate')]);
    expect(script.raw + generate.raw).not.toContain(CANARY);
    expect([...script.open, ...generate.open]).toEqual([]);
  });

  it('refused jobs have a span too', async () => {
    const { refused } = await traced(api, BEST_LEVEL);
    const reasons = ['job.invalid', 'orchestrator.closed', 'orchestrator.closed', 'orchestrator.closed'];
    expect(refused.outcomes).toEqual(reasons);
    expect(refused.spans.map(({ name, error }) => [name, error])).toEqual(reasons.map((reason) => ['job', reason]));
    expect(saidOf(refused.spans, 'job')).toEqual(
      ['session', 'exec', 'generate', 'session'].map((kind) => expect.objectContaining({ 'skillcell.job.kind': kind })),
    );
    expect(refused.open).toEqual([]);
    expect(refused.raw).not.toContain(CANARY);
  });

  it('spans of one job are nested even without a context manager', async () => {
    const { exec } = await runTraced({ scenarios: ['exec'], api, level: BEST_LEVEL, contexts: false });
    const job = exec.spans.find(({ name }) => name === 'job');
    const ofJob = exec.spans.filter(({ trace }) => trace === job?.trace);
    const expected = EXEC_TREE.flatMap((line) => (/caller|own/.test(line) ? [] : [line.slice(2)]));
    expect(spanTree({ spans: ofJob })).toEqual(expected);
    const others = exec.spans.filter(({ trace }) => trace !== job?.trace);
    expect(others.map(({ name }) => name)).toEqual(['own', 'caller']);
  });
});

it('a later copy of the package than the registered one would record nothing', { timeout: TIMEOUT_MS }, async () => {
  const copies = await Promise.all(APIS.map(async (api) => (await traced(api, BEST_LEVEL)).otherCopy.outcomes));
  expect(copies).toEqual([['lost'], ['recorded']]);
});

/** Attributes of a request to the model. */
function askedAt(stage: string): object {
  return {
    'skillcell.model.stage': stage,
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'test',
    'gen_ai.request.model': 'model',
    'gen_ai.response.model': 'model',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 50,
    'gen_ai.usage.output_tokens': 7,
  };
}

it('spans hold ids, kinds, counts and tokens', { timeout: TIMEOUT_MS }, async () => {
  const { spans } = (await traced('1.10', BEST_LEVEL)).codegen;
  const jobs = saidOf(spans, 'job');
  const isCounted = BEST_LEVEL !== 'none' || jobs.some((job) => 'skillcell.usage.cpu_ms' in job);
  expect(jobs).toEqual([
    {
      'skillcell.job.id': 'codegen-1',
      'skillcell.job.kind': 'codegen',
      'skillcell.job.language': 'javascript',
      'skillcell.job.outcome': 'succeeded',
      'skillcell.skill.ids': ['custom.gauge'],
      'skillcell.tool.count': 3,
      'skillcell.sandbox.runner': 'local',
      'skillcell.sandbox.isolation': BEST_LEVEL,
      'skillcell.sandbox.warm': false,
      'skillcell.sandbox.start_ms': expect.any(Number),
      // Only a control group has counters; level none has one on some machines only.
      ...(isCounted
        ? { 'skillcell.usage.cpu_ms': expect.any(Number), 'skillcell.usage.max_rss_bytes': expect.any(Number) }
        : {}),
      'skillcell.exit_code': 0,
      'skillcell.stdout.bytes': 2 * CANARY.length + 2,
      'skillcell.stderr.bytes': CANARY.length + 1,
      'skillcell.artifact.count': 1,
      'skillcell.artifact.omitted': 0,
      'skillcell.call.count': 6,
      'skillcell.call.failed': 2,
      'skillcell.attempt.count': 2,
      'skillcell.diagnostic.count': expect.any(Number),
    },
  ]);
  expect(saidOf(spans, 'model')).toEqual(['decision', 'decision', 'codegen', 'codegen'].map(askedAt));
  const kinds = new Set(spans.map(({ name, kind }) => `${name} ${kind}`));
  expect([...kinds].filter((kind) => !kind.endsWith(' 0'))).toEqual(['model 2']);
  const ofTool = (id: number, name: string): object => ({
    'skillcell.call.id': id,
    'skillcell.call.target': 'tool',
    'skillcell.call.name': name,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
  });
  expect(saidOf(spans, 'call')).toEqual([
    { 'skillcell.call.id': 2, 'skillcell.call.target': 'host', 'skillcell.call.name': 'effects' },
    ofTool(4, 'box.open'),
    // The name of an unknown tool is hostile text, so it is left out.
    {
      'skillcell.call.id': 5,
      'skillcell.call.target': 'tool',
      'gen_ai.operation.name': 'execute_tool',
      'error.type': 'tool.not-allowed',
    },
    { ...ofTool(6, 'box.fail'), 'error.type': 'tool.failed' },
  ]);
  expect(saidOf(spans, 'collect')).toEqual([{ 'skillcell.artifact.count': 1, 'skillcell.artifact.omitted': 0 }]);
});
