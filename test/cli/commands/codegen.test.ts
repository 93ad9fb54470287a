import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { startModelStandIn } from '../../fixtures/model-stand-in.ts';
import { runMain } from '../../fixtures/run-main.ts';

const KEY = 'key-that-must-not-leak';
const ANSWER =
  '```javascript\nimport { writeFileSync } from "node:fs";\nconsole.log("made");\nconsole.error("noted");\n' +
  'writeFileSync(`${process.env.SKILLCELL_OUTPUT}/a.txt`, "x");\n```\n';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-codegen-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

describe('skillcell codegen', () => {
  it('prints the prompt of a dry run, with the skills, and asks no model', async () => {
    const argv = ['codegen', ...BEST_FLAGS, 'Draw it.', '--dry-run', '--skill', 'chart', '--expect', 'plot.svg'];
    const plain = await runMain(argv, { cwd });
    expect(plain.code).toBe(0);
    const block = (await runMain(['skills', 'render', 'chart'])).stdout;
    expect(plain.stdout).toContain(block);
    expect(plain.stdout).toContain('Draw it.');
    expect(plain.stdout).toContain('plot.svg');
    const json = await runMain([...argv, '--json'], { cwd });
    const result = JSON.parse(json.stdout) as JobResult;
    expect(result.stdout.text).toBe(plain.stdout);
    // Nothing ran, so there is no verdict on expected outputs.
    expect(result.contract).toBeUndefined();
    expect(result.value).toMatchObject({ system: expect.stringContaining(block), messages: [{ role: 'user' }] });
    const fromStdin = await runMain(argv.with(argv.indexOf('Draw it.'), '-'), { cwd, stdin: 'Draw it.' });
    expect(fromStdin.stdout).toBe(plain.stdout);
  });

  it('carries the skills that the task calls for, says by which triggers, and stays silent without --match', async () => {
    const argv = ['codegen', ...BEST_FLAGS, '--dry-run', 'Draw a chart for the pdf.'];
    const one = await runMain([...argv, '--match=1'], { cwd });
    expect(one.code).toBe(0);
    expect(one.stdout).toContain((await runMain(['skills', 'render', 'chart'])).stdout);
    expect(one.stderr).toMatch(/^matched: public\.chart \(.*keyword:chart/m);
    expect(one.stderr).toMatch(/^would match and is left out: public\.pdf-press \(max_skills: 1\)$/m);
    const all = JSON.parse((await runMain([...argv, '--match', '--json'], { cwd })).stdout) as JobResult;
    expect(all.skills.active).toEqual(expect.arrayContaining(['public.chart', 'public.pdf-press']));
    expect(all.match?.tier).toBe(3);
    const plain = await runMain(argv, { cwd });
    expect(plain.stdout).not.toContain('Skill');
    expect(plain.stderr).not.toContain('matched');
    for (const bad of ['--match=0', '--match=x', '--match=1.5', '--match=1001', '--match=-1'])
      expect(await runMain([...argv, bad], { cwd }), bad).toMatchObject({ code: 2, stdout: '' });
  });

  it('repairs, records, and replays to the same result', async () => {
    await using model = await startModelStandIn(['```javascript\nconsole.log("wrong"); nope();\n```\n', ANSWER]);
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL_API_KEY: KEY };
    const flags = [
      'codegen',
      ...BEST_FLAGS,
      'Make a.txt.',
      '--expect',
      'a.txt',
      '--output',
      'out',
      '--max-attempts',
      '2',
    ];
    const asked = [...flags, '--model', 'openai-compatible/small', '--record', 'r.json'];
    const run = await runMain(asked, { cwd, env, terminal: true });
    expect(run).toMatchObject({ code: 0, stdout: 'made\n' });
    expect(model.requests).toHaveLength(2);
    expect(readFileSync(join(cwd, 'out/a.txt'), 'utf8')).toBe('x');
    for (const line of ['attempt 1 of 2: asking the model', 'attempt 1: failed', 'attempt 2: succeeded', '\nnoted\n']) {
      expect(run.stderr).toContain(line);
    }
    expect(run.stderr).not.toContain('wrong');

    const replayed = await runMain([...flags, '--replay', 'r.json', '--json'], { cwd });
    expect(replayed.code).toBe(0);
    expect(JSON.parse(replayed.stdout)).toMatchObject({
      kind: 'codegen',
      outcome: 'succeeded',
      stdout: { text: 'made\n' },
      codegen: { attempts: [{ outcome: 'failed' }, { outcome: 'succeeded' }] },
    });
    expect(`${run.stderr}${replayed.stdout}${readFileSync(join(cwd, 'r.json'), 'utf8')}`).not.toContain(KEY);

    const changed = await runMain(['codegen', ...BEST_FLAGS, 'Make b.txt.', '--replay', 'r.json', '--json'], { cwd });
    expect(changed.code).toBe(2);
    expect(JSON.parse(changed.stdout)).toMatchObject({ error: { code: 'model.replay-mismatch' } });
    const read = await runMain(['codegen', ...BEST_FLAGS, 'Make b.txt.\u001b[2J', '--replay', 'r.json'], {
      cwd,
      terminal: true,
    });
    expect(read.stderr).toMatch(
      /^Cannot replay \S+r\.json: request 1 differs from the recorded one:\n {2}@@ .* @@\n(?: {2}[-+ ].*\n)+Th/m,
    );
    expect(read.stderr).toContain('\n  -Make a.txt.\n');
    expect(read.stderr).toContain('\n  +Make b.txt.\\x1b[2J\n');
  });

  it('takes a budget, counted over all requests, and refuses invalid amounts', async () => {
    await using model = await startModelStandIn(() => '```javascript\nprocess.exit(1);\n```');
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL: 'openai-compatible/small' };
    const argv = ['codegen', 'Do it.', ...BEST_FLAGS, '--json'];
    const ran = await runMain([...argv, '--budget-model-calls', '1'], { cwd, env });
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({ outcome: 'limit', limit: 'model-calls' });
    for (const amount of ['0', '-1', 'NaN', '1.5', 'many', '']) {
      const refused = await runMain([...argv, '--budget-input-tokens', amount], { cwd, env });
      expect(refused.code, amount).toBe(2);
      expect(JSON.parse(refused.stdout), amount).toMatchObject({ error: { code: 'usage.invalid' } });
    }
    expect(model.requests).toHaveLength(1);
  });

  it.each([
    ['2', { outcome: 'succeeded', value: { rows: 1 } }],
    ['1', { outcome: 'limit', limit: 'calls' }],
  ])('checks the value, lists the tools by name only, and counts the calls: %s', async (calls, ending) => {
    writeFileSync(join(cwd, 'schema.json'), '{ "type": "object", "required": ["rows"] }');
    await using model = await startModelStandIn([
      '```javascript\nexport default 1;\n```',
      '```javascript\nimport { tools } from "skillcell";\nawait tools.skills.list({});\nawait tools.skills.list({});\nexport default { rows: 1 };\n```',
    ]);
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL: 'openai-compatible/small' };
    const flags = ['--tool', 'skills.*', '--tool-budget-tokens', '1', '--max-attempts', '2', '--json'];
    const schema = ['--value-schema', 'schema.json', '--budget-tool-calls', calls];
    const ran = await runMain(['codegen', 'Count.', ...BEST_FLAGS, ...schema, ...flags], { cwd, env });
    expect(JSON.parse(ran.stdout)).toMatchObject(ending);
    const prompt = JSON.stringify(model.requests[0]);
    expect(model.requests).toHaveLength(2);
    expect(prompt).toContain('rows');
    expect(prompt).toContain('they are too many to be declared here');
  });

  describe('with --select', () => {
    const decision = (value: object): string => `\`\`\`skillcell-decision\n${JSON.stringify(value)}\n\`\`\`\n`;
    const run = async (answers: string[], ...flags: string[]) => {
      await using model = await startModelStandIn(answers);
      const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL: 'openai-compatible/small' };
      const ran = await runMain(['codegen', 'Do it.', ...BEST_FLAGS, '--select', ...flags], { cwd, env });
      return { ...ran, requests: model.requests };
    };

    it('prints a text, without a sandbox', async () => {
      const { code, stdout, stderr } = await run([
        decision({ skills: ['SK1'] }),
        decision({ action: 'text', text: 'So.' }),
      ]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'So.\n' });
      expect(stderr).toMatch(/^outcome: succeeded \(.*no sandbox\)$/m);
      expect(stderr).toContain('decision: text with public.chart (2 requests, 22 tokens in, 14 out)\n');
      expect(stderr).not.toContain('value:');
    });

    it('hands over to code, with the chosen built-in skills', async () => {
      const handedOver = decision({ action: 'codegen', task: 'Make a.txt.', outputs: ['a.txt'] });
      const answers = [decision({ skills: ['SK9', 'SK2'] }), decision({ skills: ['SK2'] }), handedOver, ANSWER];
      const { code, stdout, requests } = await run(answers, '--json', '--output', 'out');
      expect(code).toBe(0);
      const result = JSON.parse(stdout) as JobResult;
      expect(result).toMatchObject({
        contract: { satisfied: true },
        skills: { active: ['public.csv-cleaning'] },
        decision: { action: 'codegen', handover: { task: 'Make a.txt.', outputs: ['a.txt'] } },
      });
      expect(requests).toHaveLength(4);
      expect(readdirSync(join(cwd, 'out')).sort()).toEqual(
        ['a.txt', 'answer-1.md', 'answer-2.md', 'answer-3.md', 'answer-4.md', 'program-1.mjs'].sort(),
      );
    });

    it('takes no dry run, and says why no answer was taken', async () => {
      const refused = await run([], '--dry-run', '--json');
      expect(refused.code).toBe(2);
      expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'usage.invalid' } });
      expect(refused.requests).toEqual([]);
      const failed = await run(['I had rather not.', 'No.']);
      expect(failed.code).toBe(1);
      expect(failed.stderr).toMatch(/^error: DecisionError: It holds no fenced code block/m);
    });
  });

  describe('the text of the model', () => {
    const env = (baseUrl: string) => ({
      SKILLCELL_MODEL_BASE_URL: baseUrl,
      SKILLCELL_MODEL: 'openai-compatible/small',
    });
    const job = ['codegen', 'Do it.', '--isolation', 'none', '--runner', 'local'];
    const keptBelow = (folder: string) =>
      Object.fromEntries(
        readdirSync(folder)
          .sort()
          .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
      );
    const onlyJob = () => {
      const [jobId = '', ...others] = readdirSync(join(cwd, 'skillcell-out'));
      expect(others).toEqual([]);
      return join(cwd, 'skillcell-out', jobId);
    };

    it('is shown, and kept with the artifacts in a folder of the job', async () => {
      await using model = await startModelStandIn([ANSWER]);
      const run = await runMain(job, { cwd, env: env(model.baseUrl) });
      expect(run).toMatchObject({ code: 0, stdout: 'made\n' });
      const folder = onlyJob();
      const code = ANSWER.split('\n').slice(1, -2).join('\n') + '\n';
      expect(keptBelow(folder)).toEqual({ 'a.txt': 'x', 'answer-1.md': ANSWER, 'program-1.mjs': code });
      expect(run.stderr).toContain(`program, attempt 1:\n${code.replace(/^(?=.)/gm, '| ')}noted\n`);
      for (const line of [
        `artifact: ${folder}/a.txt`,
        `program: ${folder}/program-1.mjs`,
        `answer: ${folder}/answer-1.md`,
      ])
        expect(run.stderr).toContain(line);
    });

    it('is kept with --json too, but not shown', async () => {
      await using model = await startModelStandIn([ANSWER]);
      const run = await runMain([...job, '--json'], { cwd, env: env(model.baseUrl) });
      expect(run.stderr).toBe('');
      expect(onlyJob()).toBe(join(cwd, 'skillcell-out', (JSON.parse(run.stdout) as JobResult).jobId));
      expect(Object.keys(keptBelow(onlyJob()))).toEqual(['a.txt', 'answer-1.md', 'program-1.mjs']);
    });

    it('is shown whole if it holds no program', async () => {
      await using model = await startModelStandIn(['I cannot do\u001b[2J that.\nNo.\n']);
      const run = await runMain([...job, '--max-attempts', '1', '--output', 'o'], {
        cwd,
        env: env(model.baseUrl),
        terminal: true,
      });
      expect(run.code).toBe(1);
      expect(run.stderr).toContain('answer of the model, attempt 1:\n| I cannot do\\x1b[2J that.\n| No.\n');
      expect(Object.keys(keptBelow(join(cwd, 'o')))).toEqual(['answer-1.md']);
    });

    it('is on the disk before the next request, which may fail', async () => {
      const wrong = '```javascript\nnope();\n```\n';
      await using model = await startModelStandIn([wrong, { status: 401, message: 'bad key' }]);
      const run = await runMain(job, { cwd, env: env(model.baseUrl) });
      expect(run.code).toBe(3);
      expect(keptBelow(onlyJob())).toEqual({ 'answer-1.md': wrong });
      expect(run.stderr).toContain(`answer: ${onlyJob()}/answer-1.md\nCannot `);
      rmSync(join(cwd, 'skillcell-out'), { recursive: true });
      await using again = await startModelStandIn([wrong, { status: 401, message: 'bad key' }]);
      const json = await runMain([...job, '--json'], { cwd, env: env(again.baseUrl) });
      expect(json.stderr).toBe(`answer: ${onlyJob()}/answer-1.md\n`);
    });

    it('survives an artifact of the same name, and files of another job', async () => {
      const taking =
        '```javascript\nimport { writeFileSync } from "node:fs";\n' +
        'writeFileSync(`${process.env.SKILLCELL_OUTPUT}/answer-1.md`, "theirs");\n```\n';
      await using model = await startModelStandIn([taking]);
      mkdirSync(join(cwd, 'o'));
      writeFileSync(join(cwd, 'o/program-1.mjs'), 'mine');
      const run = await runMain([...job, '--output', 'o'], { cwd, env: env(model.baseUrl) });
      expect(run.code).toBe(0);
      expect(keptBelow(join(cwd, 'o'))).toMatchObject({
        'answer-1.md': 'theirs',
        'answer-1.2.md': taking,
        'program-1.mjs': 'mine',
        'program-1.2.mjs': expect.stringContaining('theirs') as string,
      });
    });

    it('leaves no folder after a dry run, and is not requested if it cannot be kept', async () => {
      expect((await runMain([...job, '--dry-run'], { cwd })).code).toBe(0);
      expect(readdirSync(cwd)).toEqual([]);
      await using model = await startModelStandIn([ANSWER]);
      writeFileSync(join(cwd, 'skillcell-out'), 'a file');
      const run = await runMain(job, { cwd, env: env(model.baseUrl) });
      expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('--output') as string });
      expect(model.requests).toEqual([]);
    });
  });

  it('ends with 1 when no attempt succeeds, and with 3 when the service refuses the key', async () => {
    await using model = await startModelStandIn(['```javascript\nnope();\n```\n', { status: 401, message: 'bad key' }]);
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL: 'openai-compatible/small' };
    const argv = ['codegen', ...BEST_FLAGS, 'Do it.', '--max-attempts', '1', '--json'];
    const failed = await runMain(argv, { cwd, env });
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ outcome: 'failed', error: { name: 'ReferenceError' } });
    const refused = await runMain(argv, { cwd, env });
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'model.refused' } });
  });

  it('refuses a skill that the consumer may not see, before a model is asked', async () => {
    await using model = await startModelStandIn([ANSWER]);
    writeFileSync(join(cwd, 'd.json'), '{ "agents_config": { "solver.codegen": { "disabled": ["*.chart"] } } }');
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL: 'openai-compatible/small' };
    const run = await runMain(['codegen', ...BEST_FLAGS, 'x', '--skill', 'chart', '--descriptor', 'd.json'], {
      cwd,
      env,
    });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(model.requests).toEqual([]);
  });
});
