import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/result.ts';
import { startModelStandIn } from '../fixtures/model-stand-in.ts';
import { runMain } from '../fixtures/run-main.ts';

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
    const argv = ['codegen', 'Draw it.', '--dry-run', '--skill', 'chart', '--expect', 'plot.svg'];
    const plain = await runMain(argv, { cwd });
    expect(plain.code).toBe(0);
    const block = (await runMain(['skills', 'render', 'chart'])).stdout;
    expect(plain.stdout).toContain(block);
    expect(plain.stdout).toContain('Draw it.');
    expect(plain.stdout).toContain('plot.svg');
    const json = await runMain([...argv, '--json'], { cwd });
    const result = JSON.parse(json.stdout) as JobResult;
    expect(result.stdout.text).toBe(plain.stdout);
    expect(result.value).toMatchObject({ system: expect.stringContaining(block), messages: [{ role: 'user' }] });
    const fromStdin = await runMain(argv.with(1, '-'), { cwd, stdin: 'Draw it.' });
    expect(fromStdin.stdout).toBe(plain.stdout);
  });

  it('repairs, records, and replays to the same result', async () => {
    await using model = await startModelStandIn(['```javascript\nconsole.log("wrong"); nope();\n```\n', ANSWER]);
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL_API_KEY: KEY };
    const flags = ['codegen', 'Make a.txt.', '--expect', 'a.txt', '--output', 'out', '--max-attempts', '2'];
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

    const changed = await runMain(['codegen', 'Make b.txt.', '--replay', 'r.json', '--json'], { cwd });
    expect(changed.code).toBe(2);
    expect(JSON.parse(changed.stdout)).toMatchObject({ error: { code: 'model.replay-mismatch' } });
  });

  it('ends with 1 when no attempt succeeds, and with 3 when the service refuses the key', async () => {
    await using model = await startModelStandIn(['```javascript\nnope();\n```\n', { status: 401, message: 'bad key' }]);
    const env = { SKILLCELL_MODEL_BASE_URL: model.baseUrl, SKILLCELL_MODEL: 'openai-compatible/small' };
    const argv = ['codegen', 'Do it.', '--max-attempts', '1', '--json'];
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
    const run = await runMain(['codegen', 'x', '--skill', 'chart', '--descriptor', 'd.json'], { cwd, env });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(model.requests).toEqual([]);
  });
});
