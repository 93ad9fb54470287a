import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buffer } from 'node:stream/consumers';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quickstartJob, quickstartRecording } from '../../examples/quickstart/quickstart-job.ts';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { openaiCompatibleGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { replayGateway } from '../../src/models/recordings/replay-gateway.ts';
import type { CodegenOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { LEVELS, requireLevel } from '../fixtures/levels.ts';
import {
  startModelStandIn,
  type ModelStandIn,
  type StandInAnswer,
  type StandInHandler,
} from '../fixtures/model-stand-in.ts';
import { until } from '../fixtures/until.ts';

const KEY = 'sk-canary-5e2f71c09d';
const skills = loadSkillsSubsystem({ builtinRoot: fileURLToPath(new URL('../../skills', import.meta.url)) });
const block = (code: string, tag = 'javascript'): string => `Here it is.\n\n\`\`\`${tag}\n${code}\n\`\`\`\n`;

describe.each(LEVELS)('codegen at level %s', (isolation) => {
  let model: ModelStandIn;
  let log: string;
  beforeEach((context) => {
    requireLevel(context, isolation);
    log = '';
  });
  afterEach(async () => {
    await model?.close();
  });

  async function gateway(answers: readonly StandInAnswer[] | StandInHandler): Promise<ModelGateway> {
    await model?.close();
    model = await startModelStandIn(answers);
    const settings = { provider: 'openai-compatible' as const, model: 'stand-in', baseUrl: model.baseUrl, apiKey: KEY };
    return openaiCompatibleGateway(settings, { retry: { baseDelayMs: 1 } });
  }

  async function run(
    answers: readonly StandInAnswer[] | StandInHandler,
    job: Partial<CodegenOptions> = {},
  ): Promise<JobResult> {
    await using orchestrator = createOrchestrator({
      skills,
      model: await gateway(answers),
      logger: pino({ level: 'trace' }, { write: (line) => void (log += line) }),
    });
    return await orchestrator.codegen({ isolation, task: 'Count the rows.', ...job });
  }

  it('repairs a broken program with this run\u2019s own stderr, waits out a 429, and takes one block of two', async () => {
    // The output of the first program is unknown before it runs.
    const broken = `console.error('seen ' + 6 * 7 + ' ' + require('node:fs').readFileSync('in.csv', 'utf8').length);\nconst rows = undefined;\nrows.map((row) => row);\n`;
    const example = 'console.log(1);';
    const good = `import { readFileSync, writeFileSync } from 'node:fs';\nconst rows = readFileSync('in.csv', 'utf8').trim().split('\\n').length - 1;\nwriteFileSync(process.env.SKILLCELL_OUTPUT + '/count.json', JSON.stringify({ rows }));\nconsole.log('rows: ' + rows);\nexport default rows;`;
    const usage = { inputTokens: 100, outputTokens: 20 };
    const result = await run(
      [
        { text: block(broken), usage },
        { status: 429, headers: { 'retry-after-ms': '5' }, message: 'slow down' },
        {
          text: `${block(example)}The whole program:\n${block(good, 'js')}`,
          usage: { inputTokens: 300, outputTokens: 40 },
        },
      ],
      {
        skills: { refs: ['public.chart'] },
        files: [{ destination: 'in.csv', bytes: Buffer.from('a,b\n1,2\n3,4\n') }],
        expect: ['count.json'],
      },
    );
    expect(result).toMatchObject({
      outcome: 'succeeded',
      exitCode: 0,
      value: 2,
      stdout: { text: 'rows: 2\n' },
      stderr: { text: '' },
    });
    expect(result.contract).toEqual({ satisfied: true, missing: [] });
    expect(result.artifacts.map(({ path }) => path)).toEqual(['count.json']);

    expect(model.requests).toHaveLength(3);
    const [first, refused, second] = model.requests;
    expect(first?.system).toContain(
      skills.buildSkillsInstructionBlock({ refs: ['public.chart'], consumer: 'solver.codegen' }).text,
    );
    expect(first?.messages).toHaveLength(1);
    expect(first?.messages[0]?.content).toContain('"in.csv" (12 bytes)');
    expect(first?.messages[0]?.content).toContain('"count.json"');
    expect(refused?.raw).toBe(second?.raw);
    expect(second?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(second?.messages[1]?.content).toBe(block(broken));
    const repair = second?.messages[2]?.content ?? '';
    expect(repair).toContain('seen 42 12');
    expect(repair).toMatch(/TypeError/);
    expect(repair).toContain('(line 3 of the program)');
    expect(repair).toContain('Exit code: 1.');
    expect(repair).not.toContain(tmpdir() + '/skillcell');

    expect(
      result.codegen?.attempts.map(({ outcome, code, model: name, usage }) => ({ outcome, code, name, usage })),
    ).toEqual([
      { outcome: 'failed', code: `${broken}\n`, name: 'openai-compatible/stand-in', usage },
      {
        outcome: 'succeeded',
        code: `${good}\n`,
        name: 'openai-compatible/stand-in',
        usage: { inputTokens: 300, outputTokens: 40 },
      },
    ]);
    const [one, two] = result.codegen?.attempts ?? [];
    expect(one?.promptSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(two?.promptSha256).not.toBe(one?.promptSha256);
    expect(result.calls.map(({ target, name, ok }) => ({ target, name, ok }))).toEqual([
      { target: 'model', name: 'generate', ok: true },
      { target: 'model', name: 'generate', ok: true },
    ]);
  });

  it('each attempt starts afresh: output, artifacts and stdin are those of the last one', async () => {
    const code = (name: string, end: string): string =>
      `import { readFileSync, writeFileSync, existsSync, readdirSync } from 'node:fs';
       writeFileSync(process.env.SKILLCELL_OUTPUT + '/${name}', 'x');
       console.log('${name}', readFileSync(0, 'utf8'), readdirSync(process.env.SKILLCELL_OUTPUT).join());
       ${end}`;
    const result = await run([block(code('first', 'process.exit(3);')), block(code('second', ''))], {
      stdin: Buffer.from('input'),
    });
    expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0, stdout: { text: 'second input second\n' } });
    expect(result.artifacts.map(({ path }) => path)).toEqual(['second']);
  });

  it('events report each attempt and run', async () => {
    await using orchestrator = createOrchestrator({
      model: await gateway([block('throw new Error("one")'), block('console.log("two")')]),
    });
    const job = orchestrator.stream({ kind: 'codegen', isolation, task: 't' });
    const seen: string[] = [];
    for await (const event of job) {
      if (event.type === 'attempt') seen.push(`${event.phase} ${event.attempt}/${event.maxAttempts}`);
      else if (event.type === 'run') seen.push(`run ${event.run}`);
      else if (event.type !== 'output') seen.push(event.type);
    }
    expect(seen).toEqual([
      'accepted',
      'started',
      'skills',
      'asking 1/3',
      'prompt',
      'text',
      'call',
      'running 1/3',
      'code',
      'run 1',
      'asking 2/3',
      'prompt',
      'text',
      'call',
      'running 2/3',
      'code',
      'run 2',
      'finished',
    ]);
  });

  it('missing outputs are repaired, and end as ContractError when they stay missing', async () => {
    const writes =
      "import { writeFileSync } from 'node:fs'; writeFileSync(process.env.SKILLCELL_OUTPUT + '/out.txt', 'x');";
    const repaired = await run([block('console.log("forgot")'), block(writes)], { expect: ['out.txt'] });
    expect(repaired).toMatchObject({ outcome: 'succeeded', contract: { satisfied: true } });
    expect(model.requests[1]?.messages[2]?.content).toContain('Missing in the output folder: "out.txt"');
    expect(repaired.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded']);
    const small = { artifactFileBytes: 1 };
    const large = await run([block(writes.replace("'x'", "'xx'")), block(writes)], {
      expect: ['out.txt'],
      limits: small,
    });
    expect(large).toMatchObject({ outcome: 'succeeded', contract: { satisfied: true } });
    expect(model.requests[1]?.messages[2]?.content).toContain('"out.txt" (left out: over 1 bytes, got 2)');
    const never = await run(() => block('console.log("forgot")'), { expect: ['out.txt'], maxAttempts: 2 });
    expect(never).toMatchObject({
      outcome: 'failed',
      error: { name: 'ContractError' },
      contract: { satisfied: false, missing: ['out.txt'] },
    });
    expect(never.codegen?.attempts).toHaveLength(2);
    expect(model.requests).toHaveLength(2);
  });

  it('answers without a program and cut-off answers are repaired with that reason', async () => {
    const result = await run([
      'I cannot do that.',
      { text: '```javascript\nconsole.log("cut', finishReason: 'length' },
      block('export default "done"'),
    ]);
    expect(result).toMatchObject({ outcome: 'succeeded', value: 'done' });
    expect(model.requests[1]?.messages[2]?.content).toContain(
      'No program was run. The answer holds no fenced code block',
    );
    expect(model.requests[2]?.messages[4]?.content).toContain('cut off');
    expect(result.codegen?.attempts.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['failed', ''],
      ['failed', ''],
      ['succeeded', 'export default "done"\n'],
    ]);
    const none = await run(() => 'No.', { maxAttempts: 2 });
    expect(none).toMatchObject({ outcome: 'failed', exitCode: null, error: { name: 'CodegenError' } });
  });

  it('a program that its own fence cuts is not run, and the whole program after that fence is', async () => {
    const program = 'cat > "$SKILLCELL_OUTPUT/a.md" <<\'EOF\'\n```\nnpm test\n```\nEOF\necho done';
    const result = await run([block(program.replace('\nEOF', ''), 'bash'), block(program, 'bash')], {
      language: 'bash',
    });
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: 'done\n' }, artifacts: [{ bytes: 17 }] });
    expect(result.codegen?.attempts.map(({ code }) => code)).toEqual(['', `${program}\n`]);
    expect(model.requests[1]?.messages[2]?.content).toContain('inside of a here-document');
  });

  it('a run that takes too long is repaired; if it stays too long, the job ends as timeout', async () => {
    const endless = 'console.log("begun"); for (;;) {}';
    const limits = { runTimeoutMs: 4_000, graceMs: 100 };
    const repaired = await run([block(endless), block('export default 1')], { limits });
    expect(repaired).toMatchObject({ outcome: 'succeeded', value: 1 });
    expect(model.requests[1]?.messages[2]?.content).toContain('ran into its time limit');
    const never = await run(() => block(endless), { limits, maxAttempts: 1 });
    expect(never).toMatchObject({ outcome: 'timeout', error: { name: 'RunTimeout' }, stdout: { text: 'begun\n' } });
  });

  it('a model that does not answer in time ends the job as timeout with a ModelTimeout', async () => {
    const result = await run([{ hang: true }], { limits: { modelTimeoutMs: 300 } });
    expect(result).toMatchObject({
      outcome: 'timeout',
      error: { name: 'ModelTimeout' },
      calls: [{ ok: false, target: 'model' }],
    });
    expect(result.codegen?.attempts).toEqual([]);
  });

  it('the clock of the whole job runs while the model is asked', async () => {
    const result = await run([{ hang: true }], { limits: { jobTimeoutMs: 1_500, graceMs: 2_000 } });
    // The sandbox itself reports it, within the time it has for that.
    const message = 'The job took longer than 1.5 s.';
    expect(result).toMatchObject({ outcome: 'timeout', error: { name: 'JobTimeout', message } });
  });

  it('attempts before the model failed are reported, with the output of the last attempt', async () => {
    const first = block('console.log("printed"); process.exit(4);');
    const slow = await run([first, { hang: true }], { limits: { modelTimeoutMs: 6_000 }, expect: ['report.md'] });
    expect(slow).toMatchObject({
      outcome: 'timeout',
      error: { name: 'ModelTimeout' },
      stdout: { text: 'printed\n' },
      contract: { satisfied: false, missing: ['report.md'] },
    });
    expect(slow.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(['failed']);
    await using orchestrator = createOrchestrator({ model: await gateway([first, { hang: true }]) });
    const job = orchestrator.stream({ kind: 'codegen', isolation, task: 't' });
    await until(() => model.requests.length === 2, 'the second request');
    orchestrator.cancel(job.jobId);
    expect(await job.result).toMatchObject({ outcome: 'canceled', codegen: { attempts: [{ outcome: 'failed' }] } });
  });

  // Hidden processes exist only at this level.
  const itAtNone = isolation === 'none' ? it : () => undefined;
  itAtNone('findings of an earlier attempt are reported, whether the last attempt ran or not', async () => {
    const hides = '(env -i setsid sh -c ": >hidden; sleep 5" &)\nuntil [ -e hidden ]; do sleep 0.01; done';
    const first = `\`\`\`bash\n${hides}\nexit 4\n\`\`\``;
    const told = async (last: StandInAnswer): Promise<string[]> => {
      const { diagnostics } = await run([first, last], { limits: { modelTimeoutMs: 3_000 }, language: 'bash' });
      return diagnostics.map(({ code }) => code).filter((code) => code.startsWith('output.'));
    };
    expect(await told('```bash\necho done\n```')).toEqual(['output.incomplete']);
    expect(await told({ hang: true })).toEqual(['output.incomplete']);
  });

  it('a service that refuses the key is an infrastructure error without the key in it', async () => {
    const error: unknown = await run([{ status: 401, message: `bad key ${KEY}` }]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'model.refused', entry: { exitCode: 3 } });
    expect(JSON.stringify([String(error), error, log])).not.toContain(KEY);
    expect(model.requests).toHaveLength(1);
  });

  it('a service that stays broken is an infrastructure error after its tries', async () => {
    await expect(run(() => ({ status: 503 }))).rejects.toMatchObject({ code: 'model.failed', entry: { exitCode: 4 } });
    expect(model.requests).toHaveLength(4);
  });

  it('a job that is canceled while the model is asked is canceled, and the request is aborted', async () => {
    await using orchestrator = createOrchestrator({ model: await gateway([{ hang: true }]) });
    const job = orchestrator.stream({ kind: 'codegen', isolation, task: 't' });
    await until(() => model.requests.length === 1, 'the request');
    orchestrator.cancel(job.jobId);
    expect(await job.result).toMatchObject({ outcome: 'canceled', codegen: { attempts: [] } });
  });

  it('the key of the model is in no prompt, environment, result or log, only in the request\u2019s header', async () => {
    process.env['OPENAI_API_KEY'] = KEY;
    process.env['SKILLCELL_API_KEY'] = KEY;
    try {
      const search = `import { readdirSync, readFileSync } from 'node:fs';
        const found = [];
        for (const pid of ['self', ...readdirSync('/proc').filter((name) => /^\\d+$/.test(name))]) {
          for (const file of ['environ', 'cmdline']) {
            let text = '';
            try { text = readFileSync('/proc/' + pid + '/' + file, 'latin1'); } catch {}
            if (${isolation === 'namespace'} && text.includes('${KEY.slice(0, 9)}' + '${KEY.slice(9)}')) found.push(pid + ' ' + file);
          }
        }
        console.log(JSON.stringify(process.env), Object.keys(globalThis).join());
        export default found;`;
      const result = await run([block(search)]);
      expect(result).toMatchObject({ outcome: 'succeeded', value: [] });
      expect(model.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
      for (const text of [model.requests[0]?.raw ?? '', JSON.stringify(result), log]) {
        expect(text).not.toContain(KEY);
        expect(text).not.toBe('');
      }
    } finally {
      delete process.env['OPENAI_API_KEY'];
      delete process.env['SKILLCELL_API_KEY'];
    }
  });

  it('programs may not ask the model themselves', async () => {
    const code = `import 'skillcell';
      import Module from 'node:module';
      const { bridge } = Module[Symbol.for('skillcell.bridge')];
      export default await bridge.call('model', 'generate', { system: '', messages: [{ role: 'user', content: 'x' }] }).catch((error) => error.code);`;
    const result = await run([block(code)]);
    expect(result).toMatchObject({ outcome: 'succeeded', value: 'tool.not-allowed' });
    expect(model.requests).toHaveLength(1);
  });

  it.for([
    ['typescript', 'const n: number = 2; export default n;'],
    ['python', 'import skillcell\nskillcell.set_value(2)'],
    ['bash', 'printf 2 >"$SKILLCELL_VALUE"'],
  ] as const)('%s is written and run as well', async ([language, code], context) => {
    if (language === 'python') requireHere(context, MISSING_PYTHON);
    expect(await run([block(code, language)], { language })).toMatchObject({ outcome: 'succeeded', value: 2 });
    expect(model.requests[0]?.system).toContain(language);
  });

  describe('recordings', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'recordings-'));
      return () => rmSync(folder, { recursive: true });
    });

    it('a recorded conversation with a repair replays without a model, at the other level too', async (context) => {
      for (const level of LEVELS) requireLevel(context, level);
      const file = join(folder, 'recording.json');
      const job = {
        task: 't',
        files: [{ destination: 'in.txt', bytes: Buffer.from('x') }],
        skills: { refs: ['public.url-gen'] },
      };
      const broken = "import { readFileSync } from 'node:fs';\nreadFileSync('none.txt');";
      await using recording = createOrchestrator({
        skills,
        model: recordingGateway(await gateway([block(broken), block('export default "ok"')]), file),
      });
      const recorded = await recording.codegen({ ...job, isolation });
      expect(recorded.value).toBe('ok');
      await model.close();
      expect(readFileSync(file, 'utf8')).not.toContain(KEY);
      for (const level of LEVELS) {
        await using replaying = createOrchestrator({ skills, model: replayGateway(file) });
        const result = await replaying.codegen({ ...job, isolation: level });
        expect(result).toMatchObject({ outcome: 'succeeded', value: 'ok', codegen: recorded.codegen });
      }
      await using changed = createOrchestrator({ skills, model: replayGateway(file) });
      await expect(changed.codegen({ ...job, task: 'another', isolation })).rejects.toMatchObject({
        code: 'model.replay-mismatch',
        entry: { exitCode: 2 },
        message: expect.stringContaining('another') as string,
      });
    });

    it('a file that is not a recording is refused', () => {
      const file = join(folder, 'bad.json');
      writeFileSync(file, '{}');
      expect(() => replayGateway(file)).toThrow(expect.objectContaining({ code: 'usage.invalid' }));
      expect(() => replayGateway(join(folder, 'none'))).toThrow(expect.objectContaining({ code: 'file.unreadable' }));
    });
  });
});

describe('the quick start', () => {
  it('makes the same report and chart at both levels', async (context) => {
    for (const level of LEVELS) requireLevel(context, level);
    const made = await Promise.all(
      LEVELS.map(async (isolation) => {
        await using orchestrator = createOrchestrator({ skills, model: replayGateway(quickstartRecording) });
        const result = await orchestrator.codegen({ ...quickstartJob(), isolation });
        expect(result).toMatchObject({ outcome: 'succeeded', contract: { satisfied: true } });
        expect(result.artifacts.map(({ path }) => path)).toEqual(['chart.svg', 'report.md']);
        expect(result.skills.active).toEqual(expect.arrayContaining(['public.data-report', 'public.chart']));
        return await Promise.all(
          result.artifacts.map(async ({ path }) => String(await buffer(orchestrator.artifact(result.jobId, path)))),
        );
      }),
    );
    expect(made[1]).toEqual(made[0]);
    const [chart, report] = made[0] ?? [];
    expect(chart).toMatch(/^<svg[^]*<\/svg>\s*$/);
    expect(report).toMatch(/^# /);
    expect(report).toMatch(/\[\[S:\d|https?:\/\//);
  });

  it('with another task gets no answer from the recording', async () => {
    await using orchestrator = createOrchestrator({ skills, model: replayGateway(quickstartRecording) });
    const job = quickstartJob();
    await expect(
      orchestrator.codegen({ ...job, task: `${job.task} And more.`, isolation: 'none' }),
    ).rejects.toMatchObject({
      code: 'model.replay-mismatch',
      message: expect.stringContaining('And more.') as string,
    });
  });
});
