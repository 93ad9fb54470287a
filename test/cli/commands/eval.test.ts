import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillEvalReport } from '../../../src/evals/eval-report.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { startModelStandIn, type StandInRequest } from '../../fixtures/model-stand-in.ts';
import { runMain, startMain, type MainRun } from '../../fixtures/run-main.ts';
import { programAnswer } from '../../fixtures/scripted-model.ts';
import { until } from '../../fixtures/until.ts';

const KEY = 'key-that-must-not-leak';
const SKILL = '---\nname: units\ndescription: Units.\ntriggers:\n  keywords: [length]\n---\nA marathon has 42195 m.\n';
const ANY_LEVEL = ['skills', 'eval', 'units', '--root', 'skills', '--runner', 'local'];
const FLAGS = [...ANY_LEVEL, ...BEST_FLAGS];

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-eval-'));
  mkdirSync(join(cwd, 'skills/units/evals'), { recursive: true });
  writeFileSync(join(cwd, 'skills/units/SKILL.md'), SKILL);
  const assertions = [{ type: 'value-equals', value: 42195 }, { type: 'file-exists', path: 'a/b.txt' }, 'It is kind.'];
  evals([{ id: 'length', prompt: 'Give a length.', assertions }]);
});
afterEach(() => rmSync(cwd, { recursive: true }));

function evals(list: unknown): void {
  writeFileSync(join(cwd, 'skills/units/evals/evals.json'), JSON.stringify({ skill_name: 'units', evals: list }));
}

/** A model that knows a length if its prompt has it; otherwise it answers with another length each time. */
function reader(): (request: StandInRequest) => { text: string; usage: { inputTokens: number; outputTokens: number } } {
  let asked = 0;
  return ({ system }) => {
    const length = /marathon has (\d+) m/.exec(system)?.[1] ?? String(42_000 + (asked += 1));
    const code = `import { mkdirSync, writeFileSync } from 'node:fs';
const out = process.env.SKILLCELL_OUTPUT;
mkdirSync(out + '/a');
writeFileSync(out + '/a/b.txt', '${length}');
export default ${length};`;
    return { text: programAnswer('javascript', code), usage: { inputTokens: 1_000, outputTokens: 50 } };
  };
}

const ask = (baseUrl: string): Record<string, string> => ({
  SKILLCELL_MODEL: 'openai-compatible/small',
  SKILLCELL_MODEL_BASE_URL: baseUrl,
  SKILLCELL_MODEL_API_KEY: KEY,
});
const left = (): string[] => readdirSync(cwd).toSorted();

describe('skillcell skills eval', () => {
  it('finds a skill better, records, and replays to the same report, table and files', async () => {
    await using model = await startModelStandIn(reader());
    const asked = [...FLAGS, '--runs', '4', '--record', 'r.json', '--out', 'out', '--json'];
    const run = await runMain(asked, { cwd, env: ask(model.baseUrl) });
    expect([run.code, run.stderr]).toEqual([0, '']);
    const report = JSON.parse(run.stdout) as SkillEvalReport;
    expect(report).toMatchObject({
      ...{ verdict: 'better', runs: 4, seed: 1, models: ['openai-compatible/small'] },
      skill: { id: 'public.units', digest: expect.stringMatching(/^sha256:/) },
      sides: [
        { side: 'with', passRate: 1, passed: 4, tokens: { input: 4_000, output: 200 } },
        { side: 'without', passRate: 0.5, passed: 0, tokens: { input: 4_000, output: 200 } },
      ],
      difference: { value: 0.5 },
    });
    expect(model.requests).toHaveLength(8);
    expect(left()).toEqual(['out', 'r.json', 'skills']);

    // The same prompt was answered in four ways: they come back in their order.
    const shown = await runMain([...FLAGS, '--runs', '4', '--replay', 'r.json', '--out', 'again'], { cwd });
    expect([shown.code, shown.stdout]).toEqual([0, '']);
    expect(model.requests).toHaveLength(8);
    expect(shown.stderr).toContain('public.units: better\n');
    expect(shown.stderr).toMatch(/\nwith the skill +100 % +4 of 4 +4,000 +200\nwithout the skill +50 % +0 of 4 /);
    expect(shown.stderr).toMatch(/\n {2}value-equals +4 of 4 +0 of 4\n/);
    expect(shown.stderr).toMatch(/\n {2}It is kind\. +unchecked +unchecked\n/);
    expect(shown.stderr).toContain('\n1 expectation is prose, and unchecked.\n');
    const text = (path: string): string => readFileSync(join(cwd, path), 'utf8');
    expect(JSON.parse(text('again/summary.json'))).toEqual(report);
    expect(text('out/summary.json')).toBe(text('again/summary.json'));
    expect(shown.stderr).toBe(`${text('out/table.txt')}written to ${join(cwd, 'again')}\n`);
    const files = readdirSync(join(cwd, 'out/runs/length')).toSorted();
    expect(files).toEqual(['with', 'without'].flatMap((side) => [1, 2, 3, 4].map((number) => `${side}-${number}`)));
    for (const file of files) {
      const place = `runs/length/${file}`;
      const names = readdirSync(join(cwd, 'out', place)).toSorted();
      expect(names).toEqual(['answer-1.md', 'artifacts', 'program-1.mjs', 'result.json', 'run.json']);
      for (const name of ['answer-1.md', 'artifacts/a/b.txt', 'program-1.mjs', 'run.json'])
        expect(text(`again/${place}/${name}`), `${file} ${name}`).toBe(text(`out/${place}/${name}`));
      expect(JSON.parse(text(`out/${place}/result.json`))).toMatchObject({ kind: 'codegen', outcome: 'succeeded' });
    }
    expect(text('out/runs/length/without-1/artifacts/a/b.txt')).not.toBe(
      text('out/runs/length/without-2/artifacts/a/b.txt'),
    );
    expect(`${run.stdout}${text('r.json')}${text('out/summary.json')}`).not.toContain(KEY);

    const other = await runMain([...FLAGS, '--runs', '5', '--replay', 'r.json', '--json'], { cwd });
    expect([other.code, JSON.parse(other.stdout)]).toMatchObject([2, { error: { code: 'model.replay-mismatch' } }]);
  });

  it('keeps paid answers without --out, and shows each run on a terminal', async () => {
    await using model = await startModelStandIn(reader());
    const env = ask(model.baseUrl);
    const run = await runMain([...FLAGS, '--runs', '1', '--aa'], { cwd, env, terminal: true });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('run 1 of 2: length, with 1: 2 of 2 passed\n');
    expect(run.stderr).toContain('public.units: could-not-measure (with 1 run of each eval, any difference could be');
    const [folder = ''] = readdirSync(join(cwd, 'skillcell-out'));
    expect(folder).toMatch(/^eval-/);
    expect(run.stderr).toContain(`written to ${join(cwd, 'skillcell-out', folder)}\n`);
    expect(existsSync(join(cwd, 'skillcell-out', folder, 'runs/length/again-1/answer-1.md'))).toBe(true);
  });

  it('reports that nothing was measured if the model failed', async () => {
    await using model = await startModelStandIn(() => ({ status: 401, message: 'no such key' }));
    const run = await runMain([...FLAGS, '--runs', '4', '--out', 'out', '--json'], { cwd, env: ask(model.baseUrl) });
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({
      verdict: 'could-not-measure',
      reason: expect.stringContaining('model.refused'),
      results: { length: 3 },
      difference: null,
    });
    expect(run.stdout).not.toContain(KEY);
  });

  it('judges triggers without a model, and runs evals only on request', async () => {
    writeFileSync(
      join(cwd, 'triggers.json'),
      JSON.stringify([
        { query: 'What length is it?', should_trigger: true },
        { query: 'How long is it?', should_trigger: true },
        { query: 'What time is it?', should_trigger: false },
      ]),
    );
    const argv = ['skills', 'eval', 'units', '--root', 'skills', '--triggers', 'triggers.json'];
    const run = await runMain([...argv, '--json'], { cwd, env: { SKILLCELL_MODEL: 'openai-compatible/none' } });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(JSON.parse(run.stdout)).toMatchObject({
      triggers: { truePositives: 1, falseNegatives: 1, trueNegatives: 1, precision: 1, recall: 0.5 },
    });
    const shown = await runMain(argv, { cwd });
    expect(shown.stderr).toContain('precision 100 %, recall 50 %\nshould have come in: How long is it?');
    expect(left()).toEqual(['skills', 'triggers.json']);

    await using model = await startModelStandIn(reader());
    const both = await runMain([...argv, ...BEST_FLAGS, '--runs', '1', '--json'], { cwd, env: ask(model.baseUrl) });
    expect(JSON.parse(both.stdout)).toMatchObject({ verdict: 'could-not-measure', triggers: { recall: 0.5 } });
    expect(model.requests).toHaveLength(2);
  });

  it('reports the runs before an interruption, and leaves no process', async () => {
    let asked = 0;
    const answer = reader();
    await using model = await startModelStandIn((request) => ((asked += 1) > 2 ? { hang: true } : answer(request)));
    const run = startMain([...FLAGS, '--runs', '4', '--out', 'out', '--json'], { cwd, env: ask(model.baseUrl) });
    await until(() => model.requests.length === 3, 'the third request');
    run.signal('SIGINT');
    const { code, stdout } = await run.done;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ verdict: 'could-not-measure', reason: 'it was interrupted after 2 of 8 runs', interrupted: true },
      sides: [{ measured: 1 }, { measured: 1 }],
    });
    expect(run.exits).toEqual([]);
    expect(JSON.parse(readFileSync(join(cwd, 'out/summary.json'), 'utf8'))).toEqual(JSON.parse(stdout));
  });

  it('does not write through a link that appears in the folder meanwhile', async () => {
    const answer = reader();
    mkdirSync(join(cwd, 'elsewhere'));
    await using model = await startModelStandIn((request) => {
      symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'out/runs/length'));
      return answer(request);
    });
    const run = await runMain([...FLAGS, '--runs', '1', '--out', 'out', '--json'], { cwd, env: ask(model.baseUrl) });
    expect([run.code, JSON.parse(run.stdout)]).toMatchObject([3, { error: { code: 'artifact.write-failed' } }]);
    expect(readdirSync(join(cwd, 'elsewhere'))).toEqual([]);
  });
});

describe('skillcell skills eval refuses', () => {
  const refused = async (
    flags: readonly string[],
    code: string,
    before: readonly string[] = FLAGS,
  ): Promise<MainRun> => {
    await using model = await startModelStandIn(reader());
    const folders = left();
    const env = ask(model.baseUrl);
    const run = await runMain([...before, '--record', 'r.json', '--out', 'out', '--json', ...flags], { cwd, env });
    expect(run.code, flags.join(' ')).toBe(code === 'runner.isolation-unmet' ? 3 : 2);
    expect(JSON.parse(run.stdout), flags.join(' ')).toMatchObject({ error: { code } });
    expect(model.requests).toEqual([]);
    expect(left()).toEqual(folders);
    return run;
  };

  it.each([
    [[{ id: 1, prompt: 'x', assertions: [{ type: 'llm', text: 'x' }] }], 'evals.0.assertions.0.type'],
    [[{ id: 1, prompt: 'x', timeout: 3 }], 'evals.0.timeout'],
    [[], 'evals must be a list that is not empty'],
    [[{ id: 1, prompt: 'x', files: [{ path: 'SKILL.md', destination: 'out/a' }] }], 'evals.0.files'],
  ])('evals that it cannot check, %j, and leaves nothing', async (list, field) => {
    evals(list);
    expect((await refused([], 'eval.invalid')).stdout).toContain(field);
    // With a model or without one.
    const plain = await runMain([...FLAGS, '--json'], { cwd });
    expect([plain.code, plain.stdout]).toEqual([2, expect.stringContaining('eval.invalid')]);
  });

  it.each([
    ['--runs', '0'],
    ['--runs', '101'],
    ['--runs', 'many'],
    ['--seed', '-1'],
    ['--seed', '4294967296'],
    ['--budget-model-calls', '0'],
    ['--budget-input-tokens', '0'],
    ['--budget-output-tokens', 'NaN'],
    ['--max-attempts', '0'],
    ['--timeout', '0'],
    ['--consumer', 'a b'],
    ['--replay', 'r.json'],
    ['--output', 'x'],
  ])('%s %s', async (flag, value) => {
    await refused([`${flag}=${value}`], 'usage.invalid');
  });

  it.each<[string, () => void]>([
    ['is a dangling link', () => symlinkSync('nowhere', join(cwd, 'out'))],
    ['holds the runs of another evaluation', () => mkdirSync(join(cwd, 'out/runs'), { recursive: true })],
    [
      'holds a link in the place of the runs',
      () => {
        mkdirSync(join(cwd, 'out'));
        symlinkSync('..', join(cwd, 'out/runs'));
      },
    ],
    [
      'holds the summary of another evaluation',
      () => {
        mkdirSync(join(cwd, 'out'));
        writeFileSync(join(cwd, 'out/summary.json'), '{}');
      },
    ],
  ])('a folder that %s', async (_what, make) => {
    make();
    expect((await refused([], 'usage.invalid')).stdout).toContain('Cannot use --out');
  });

  it('an unusable folder, invalid or missing files, and an unavailable level', async () => {
    writeFileSync(join(cwd, 'file'), '[]');
    await refused(['--triggers', 'file'], 'eval.invalid');
    await refused(['--triggers', 'none'], 'file.unreadable');
    await refused(['--isolation', 'kernel'], 'runner.isolation-unmet', ANY_LEVEL);
    const folder = await runMain([...FLAGS, '--out', 'file', '--json'], { cwd });
    expect([folder.code, folder.stdout]).toEqual([2, expect.stringContaining('Cannot use --out')]);
    const skill = await runMain(['skills', 'eval', 'none', '--root', 'skills', '--json'], { cwd });
    expect([skill.code, skill.stdout]).toEqual([2, expect.stringContaining('skills.reference-unknown')]);
  });
});
