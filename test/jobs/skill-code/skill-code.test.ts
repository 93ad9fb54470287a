import { afterAll, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import type { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

/** A skill with one JavaScript toolset. */
function toolset(name: string, code: string, fields: Record<string, unknown> = {}): Record<string, string> {
  return {
    [`${name}/SKILL.md`]: skillText({ name, description: 'A skill.', toolsets: ['tools:Tools'], ...fields }, 'Body.'),
    [`${name}/tools.mjs`]: code,
  };
}

const tool = (id: string, body: string): string =>
  `export const Tools = [{ id: '${id}', description: 'A tool.', execute: async (args, context) => { ${body} } }];`;

const WAIT = 'await new Promise((resolve) => setTimeout(resolve, 4_000));\n';

const library = skillLibrary({
  ...toolset('count', `let calls = 0;\n${tool('count', 'calls += 1; return calls;')}`),
  ...toolset('count2', tool('count', 'return 0;')),
  ...toolset('same', tool('a b', 'return 0;').replace('];', ", { id: 'a_b', execute: () => 1 }];")),
  ...toolset('thrower', "throw new Error('not today, in /srv/x');"),
  ...toolset('syntax', 'export const Tools = [;'),
  ...toolset('nothing', 'export const Other = [];'),
  ...toolset('number', 'export const Tools = 7;'),
  ...toolset('hanging', 'await new Promise(() => setInterval(() => {}, 1000)); export const Tools = [];'),
  ...toolset('needy', "import 'left-pad'; export const Tools = [];", {
    dependencies: ['zod', 'left-pad@^1', '@x/y/z'],
  }),
  ...toolset(
    'fickle',
    `export const Tools = [{ id: 'fickle', description: 'T ' + process.hrtime.bigint(), execute: () => 1 }];`,
  ),
  ...toolset(
    'deep',
    `let schema = {}; for (let i = 0; i < 40; i += 1) schema = { items: schema };
export const Tools = [{ id: 'deep', description: '', parameters: schema, execute: () => 1 }];`,
  ),
  ...toolset('quitter', tool('quit', 'process.exit(3);')),
  ...toolset(
    'odd',
    `export const Tools = [
  { id: 'cycle', execute() { const a = {}; a.a = a; return a; } },
  { id: 'large', execute: () => 'x'.repeat(300_000) },
  { id: 'map', execute: async () => { await new Promise((resolve) => setTimeout(resolve, 20)); return { of: new Map([[1, 2]]) }; } },
  { id: 'nothing', execute: () => undefined },
  { id: 'getter', execute: () => ({ get a() { throw new Error('from a getter'); } }) },
  { id: 'text', execute: () => { throw 'a text'; } },
  { id: 'bytes', execute: ({ given }) => ({ back: given, size: given.length }) },
  { id: 'late', execute: (_args, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(new Error('over')))) },
  { id: 'quick', execute: () => 'quick' },
];`,
  ),
  'nofile/SKILL.md': skillText(
    { name: 'nofile', description: 'A skill.', toolsets: ['../count/tools:Tools'] },
    'Body.',
  ),
  'noclass/SKILL.md': skillText(
    { name: 'noclass', description: 'A skill.', provider: { module: 'provider' } },
    'Body.',
  ),
  'pyneeds/SKILL.md': skillText(
    {
      name: 'pyneeds',
      description: 'A skill.',
      provider: { module: 'provider', class: 'P' },
      dependencies: ['json', 'app.chat_shell.tools.pending_requests', 'no_such_module>=2'],
    },
    'Body.',
  ),
  'pyneeds/provider.py': 'raise RuntimeError("loaded")\n',
  ...toolset('requiring', tool('brought', "return 'brought';")),
  'requiring/tools.yaml': 'tools:\n  - id: brought\n    required: true\n',
  ...toolset('classy', "export class Tools { tools = [{ name: 'classy', execute() { return this.name; } }]; }"),
  ...toolset('static', "export class Tools { static tools = [{ name: 'static', execute() { return this.name; } }]; }"),
  ...toolset(
    'many',
    `export const Tools = Array.from({ length: 2_000 }, (_, n) => ({ id: 't' + n, description: 'x'.repeat(200), execute: () => n }));`,
  ),
  ...toolset('wordy', `export const Tools = [{ id: 'w', description: 'x'.repeat(300_000), execute: () => 1 }];`),
  ...toolset('waiting', `${WAIT}${tool('waiting', '')}`),
  // A second skill: a pending description of the first would be shared.
  ...toolset('waiting2', `${WAIT}${tool('waiting2', '')}`),
});

/** The local runner, with the number of its sandboxes. */
function countingRunner(): { runner: Runner; started(): number } {
  const runner = createLocalRunner();
  let started = 0;
  const { start } = runner;
  const counting = {
    ...runner,
    async start(...args: Parameters<Runner['start']>) {
      const sandbox = await start.apply(runner, args);
      // A failed start is not counted.
      started += 1;
      return sandbox;
    },
  };
  return { runner: counting, started: () => started };
}

const { runner, started } = countingRunner();
const orchestrator = createOrchestrator({
  skills: library.subsystem,
  runners: [runner],
  allowUnisolated: BEST_LEVEL === 'none',
});
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

const CALL = `import { tools } from 'skillcell';
const attempt = (id, args) => tools.call(id, args).catch(({ name, code, message }) => ({ name, code, message }));\n`;

async function run(skill: string[], code: string, on: Orchestrator = orchestrator): Promise<unknown> {
  const result = await on.exec({
    skills: { refs: skill.map((name) => `custom.${name}`) },
    tools: ['*'],
    code: CALL + code,
  });
  expect(result.stderr.text).toBe('');
  expect(result.outcome).toBe('succeeded');
  return result.value;
}

async function refusal(skills: string[]): Promise<Pick<SkillcellError, 'code' | 'message'>> {
  const error = await run(skills, 'export default 1;').then(
    () => expect.fail('the job was accepted'),
    (reason: unknown) => reason as SkillcellError,
  );
  return { code: error.code, message: error.message };
}

describe('the code of a skill', () => {
  it('runs in one sandbox for each job', async () => {
    const code = "export default [await attempt('count'), await attempt('count'), await attempt('count')];";
    expect(await run(['count'], code)).toEqual([1, 2, 3]);
    const before = started();
    expect(await run(['count'], code)).toEqual([1, 2, 3]);
    expect(started() - before, 'the sandbox of the job, and one for the code').toBe(2);
    const idle = started();
    await run(['count'], 'export default 1;');
    expect(started() - idle, 'the sandbox of the job alone, without a call').toBe(1);
  });

  it('takes no place in the job queue: many jobs at concurrency 2 all end', async () => {
    await using host = createOrchestrator({
      skills: library.subsystem,
      concurrency: 2,
      runners: [createLocalRunner()],
      allowUnisolated: true,
    });
    const jobs = Array.from({ length: 30 }, () =>
      host.exec({
        isolation: 'none',
        skills: { refs: ['custom.count'] },
        tools: ['count'],
        code: `${CALL}export default await attempt('count');`,
      }),
    );
    const values = (await Promise.all(jobs)).map(({ value }) => value);
    expect(new Set(values)).toEqual(new Set([1]));
  }, 600_000);

  it('is refused with two tools of the same name, in one or two skills, and with a name of the host', async () => {
    const two = await refusal(['count', 'count2']);
    expect(two.code).toBe('skill-code.name-conflict');
    expect(two.message).toMatch(
      /count of custom\.count and of custom\.count2|count of custom\.count2 and of custom\.count/,
    );
    expect(await refusal(['same'])).toMatchObject({
      code: 'skill-code.name-conflict',
      message: expect.stringMatching(/a_b/) as string,
    });
    await using host = createOrchestrator({
      skills: library.subsystem,
      runners: [createLocalRunner()],
      allowUnisolated: BEST_LEVEL === 'none',
      tools: [{ id: 'count', description: 'The host\u2019s.', execute: async () => 1 }],
    });
    await expect(run(['count'], 'export default 1;', host)).rejects.toMatchObject({ code: 'skill-code.name-conflict' });
  });

  it('reports missing modules before it is loaded', async (context) => {
    expect(await refusal(['needy'])).toEqual({
      code: 'skill-code.dependency-missing',
      message:
        'Cannot load the code of custom.needy: modules that it depends on are missing, got "left-pad@^1", "@x/y/z".',
    });
    requireHere(context, MISSING_PYTHON);
    expect(await refusal(['pyneeds'])).toEqual({
      code: 'skill-code.dependency-missing',
      message:
        'Cannot load the code of custom.pyneeds: modules that it depends on are missing, got "app.chat_shell.tools.pending_requests", "no_such_module>=2".',
    });
  });

  it('that cannot be loaded refuses the job with the reason, and without a path', async () => {
    expect(await refusal(['thrower'])).toEqual({
      code: 'skill-code.load-failed',
      message: 'Cannot load the code of custom.thrower: not today, in [path].',
    });
  });

  it.each([
    ['number', /no list of tools/],
    ['deep', /schema of its tool deep .* nested over 32 levels/],
    ['syntax', /Unexpected token/],
    ['nothing', /exports no Tools/],
    ['many', /its tools are not a list of at most 128 names/],
    ['wordy', /the descriptions of its tools cannot be sent: over 262144 bytes of JSON/],
  ])('that cannot be loaded refuses the job with the reason: %s', async (skill, reason) => {
    expect(await refusal([skill])).toMatchObject({
      code: 'skill-code.load-failed',
      message: expect.stringMatching(reason) as string,
    });
  });

  it.each(['nofile', 'noclass'])('that is not there refuses the job: %s', async (skill) => {
    expect(await refusal([skill])).toMatchObject({ code: 'skill-code.invalid' });
  });

  it('that changes its description at its first call ends the job', async () => {
    await run(['fickle'], 'export default 1;');
    await expect(run(['fickle'], "export default await attempt('fickle');")).rejects.toMatchObject({
      code: 'skill-code.changed',
    });
  });

  it('that ends loses its tools, and nothing else', async () => {
    const value = await run(
      ['quitter', 'count'],
      "export default [await attempt('quit'), await attempt('quit'), await attempt('count')];",
    );
    const gone = {
      name: 'ToolCallError',
      code: 'skill-code.failed',
      message: 'The code of custom.quitter failed: its process ended with code 3.',
    };
    expect(value).toEqual([gone, gone, 1]);
  });

  let odd: Promise<unknown> | undefined;
  /** Of one job for several tests. */
  const values = async (): Promise<Record<string, unknown>> => {
    odd ??= run(
      ['odd', 'requiring', 'classy', 'static'],
      `const bytes = await tools.call('bytes', { given: new Uint8Array([0, 255, 7]) });
export default { brought: await attempt('brought'), classes: [await attempt('classy'), await attempt('static')],
  ...Object.fromEntries(await Promise.all(['cycle', 'large', 'map', 'nothing', 'getter', 'text'].map(async (id) => [id, await attempt(id)]))),
  bytes: [bytes.size, [...bytes.back]], huge: await attempt('quick', { given: 'x'.repeat(262_100) }), quick: await attempt('quick') };`,
    );
    return (await odd) as Record<string, unknown>;
  };

  it('fails single calls with bad results, and accepts bytes', async () => {
    const { brought: _, classes: __, ...value } = await values();
    const failed = (message: string | RegExp): unknown =>
      expect.objectContaining({ code: 'skill-code.failed', message: expect.stringMatching(message) as string });
    const unsent = (code: string, reason: string): unknown => ({
      name: 'ToolCallError',
      code,
      message: `The result of the code of custom.odd cannot be sent: ${reason}.`,
    });
    expect(value).toEqual({
      cycle: unsent('tool.invalid-result', 'nested over 60 levels'),
      large: unsent('tool.too-large', 'over 262144 bytes of JSON'),
      map: unsent('tool.invalid-result', 'an object that is a Map is no JSON value, at value.of'),
      nothing: null,
      getter: failed('from a getter'),
      text: failed('a text'),
      bytes: [3, [0, 255, 7]],
      huge: expect.objectContaining({ code: 'tool.too-large' }) as unknown,
      quick: 'quick',
    });
  });

  it('may bring a tool that the skill itself requires', async () => {
    expect((await values())['brought']).toBe('brought');
  });

  it('may be a class with a list of tools', async () => {
    expect((await values())['classes']).toEqual(['classy', 'static']);
  });

  it('that still describes itself does not prevent the cancellation of a job', async () => {
    const job = orchestrator.stream({ kind: 'exec', skills: { refs: ['custom.waiting'] }, tools: ['*'], code: '1' });
    const before = started();
    await until(() => started() > before, 'the start of its sandbox');
    expect(orchestrator.cancel(job.jobId, 'enough')).toBe(true);
    expect(await job.result).toMatchObject({ outcome: 'canceled', error: { message: 'enough' } });
  });

  it('that still describes itself does not prevent the cancellation of a job by its signal', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const before = started();
    const result = orchestrator.exec({ skills: { refs: ['custom.waiting2'] }, tools: ['*'], code: '1', signal });
    await until(() => started() > before, 'the start of its sandbox');
    controller.abort('enough');
    expect(await result).toMatchObject({ outcome: 'canceled', error: { message: 'enough' } });
  });

  it('of a misspelt skill is reported as an unknown skill, not as an unknown tool', async () => {
    const job = orchestrator.exec({ skills: { refs: ['custom.cuont'] }, tools: ['count'], code: '1' });
    await expect(job).rejects.toMatchObject({ code: 'skills.reference-unknown' });
  });

  it('must describe itself within the time of its job', async () => {
    const limits = { jobTimeoutMs: 400 };
    const job = orchestrator.exec({ skills: { refs: ['custom.hanging'] }, tools: ['*'], code: '1', limits });
    await expect(job).rejects.toMatchObject({
      code: 'skill-code.load-failed',
      message: `Cannot load the code of the job's skills: it did not load within jobTimeoutMs, 400 ms, got custom.hanging.`,
    });
  });

  it('is ignored if skillCode is off, so that its tools are unknown', async () => {
    await using host = createOrchestrator({
      skills: library.subsystem,
      skillCode: 'off',
      runners: [createLocalRunner()],
      allowUnisolated: BEST_LEVEL === 'none',
    });
    const job = host.exec({ skills: { refs: ['custom.count'] }, tools: ['count'], code: '1' });
    await expect(job).rejects.toMatchObject({ code: 'job.invalid' });
  });
});
