import { afterAll, describe, expect, it } from 'vitest';
import type { ModelAnswer, ModelGateway, ModelRequest } from '../../src/models/model-gateway.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { evaluateSkill, type EvaluateSkillOptions } from '../../src/evals/evaluate-skill.ts';
import type { MadeEvalRun } from '../../src/evals/make-run.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel } from '../fixtures/every-level.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { programAnswer } from '../fixtures/scripted-model.ts';
import { type SkillLibrary, skillLibrary, skillText } from '../fixtures/skill-library.ts';

const SKILL = skillText({ name: 'units', description: 'Units.', import: ['custom.base'] }, 'A marathon has 42195 m.');
const CHECK = `import json
run = json.load(open('run.json'))
assert run['value'] == 42195, f"got {run['value']}"
assert open('artifacts/length.txt').read() == '42195 m'
`;
const libraries: SkillLibrary[] = [];
afterAll(() => libraries.forEach((library) => library[Symbol.dispose]()));

/** A skill library with these evals. */
function library(evals: unknown, files: Record<string, string> = {}): SkillLibrary['subsystem'] {
  const made = skillLibrary({
    'units/SKILL.md': SKILL,
    'units/references/table.md': 'One mile has 1609.344 m.',
    'units/evals/evals.json': JSON.stringify({ skill_name: 'units', evals }),
    'base/SKILL.md': skillText({ name: 'base', description: 'Base.' }, 'Give SI units.'),
    'base/evals/evals.json': '{ "expected": "42195" }',
    'other/SKILL.md': skillText({ name: 'other', description: 'Other.' }, 'Shout.'),
    ...files,
  });
  libraries.push(made);
  return made.subsystem;
}

/** A stand-in model. Its answer depends on the length in its prompt. */
function reader(answer: (length: string, request: ModelRequest) => Partial<ModelAnswer> | string): ModelGateway {
  return {
    id: 'test/model',
    async generate(request) {
      const length = /marathon has (\d+) m/.exec(request.system)?.[1] ?? '42000';
      const plain = { text: '', model: 'test/model', usage: { inputTokens: 5, outputTokens: 3 }, finishReason: 'stop' };
      const given = answer(length, request);
      return { ...plain, ...(typeof given === 'string' ? { text: given } : given) };
    },
  };
}

const program = (length: string): string =>
  programAnswer(
    'javascript',
    `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.SKILLCELL_OUTPUT + '/length.txt', '${length} m');
console.log('written');
export default ${length};`,
  );

const evaluate = (options: Omit<EvaluateSkillOptions, 'skill'>): ReturnType<typeof evaluateSkill> =>
  evaluateSkill({
    orchestrator: { runners: [createLocalRunner()] },
    ...options,
    skill: 'custom.units',
    job: { isolation: BEST_LEVEL, ...options.job },
  });

const LENGTH = [{ id: 'length', prompt: 'Give a length.', assertions: [{ type: 'value-equals', value: 42195 }] }];

describe.each(ALL_LEVELS)('evaluateSkill() at level %s', (level) => {
  it('judges a needed skill better by files, values, output and a check, and skips prose', async (context) => {
    requireEachLevel(context, level);
    requireHere(context, MISSING_PYTHON);
    const assertions = [
      'The length is given kindly.',
      { type: 'value-equals', value: 42195 },
      { type: 'file-matches', path: 'length.txt', pattern: '^42\\d{3} m$' },
      { type: 'output-contains', text: 'written' },
      { type: 'check', program: 'evals/checks/length.py' },
    ];
    const skills = library(
      [{ id: 'length', prompt: 'Give a length.', expected_output: '42195', files: ['evals/files/a.txt'], assertions }],
      { 'units/evals/checks/length.py': CHECK, 'units/evals/files/a.txt': 'a' },
    );
    const made: MadeEvalRun[] = [];
    const report = await evaluate({
      skills,
      model: reader(program),
      runs: 5,
      job: { isolation: level },
      orchestrator: { runners: await everyRunner(), allowUnisolated: true },
      onRun: (run) => void made.push(run),
    });
    expect(report).toMatchObject({
      ...{ schema: 'skillcell/skill-eval@1', verdict: 'better', aa: false, runs: 5, interrupted: false },
      skill: { id: 'custom.units' },
      models: ['test/model'],
      sides: [
        { side: 'with', withSkill: true, measured: 5, passed: 5, passRate: 1, tokens: { input: 25, output: 15 } },
        { side: 'without', withSkill: false, measured: 5, passed: 0, passRate: 0.5, tokens: { input: 25, output: 15 } },
      ],
      difference: { value: 0.5 },
      notes: ['1 expectation is prose, and unchecked.'],
    });
    expect(report.evals).toEqual([
      {
        id: 'length',
        prompt: 'Give a length.',
        expectedOutput: '42195',
        sides: { with: { measured: 5, passRate: 1 }, without: { measured: 5, passRate: 0.5 } },
        assertions: [
          { text: 'The length is given kindly.', checked: false, passed: {} },
          { text: 'value-equals', checked: true, passed: { with: 5, without: 0 } },
          { text: 'file-matches length.txt "^42\\\\d{3} m$"', checked: true, passed: { with: 5, without: 5 } },
          { text: 'output-contains "written"', checked: true, passed: { with: 5, without: 5 } },
          { text: 'check evals/checks/length.py', checked: true, passed: { with: 5, without: 0 } },
        ],
      },
    ]);
    const without = report.results.find(({ side }) => side === 'without');
    expect(without?.assertions[0]).toEqual({ status: 'unchecked' });
    expect(without?.assertions[4]).toEqual({ status: 'failed', reason: 'AssertionError: got 42000' });
    expect(made.map(({ result }) => result?.isolation)).toEqual(Array(10).fill(level));
    expect(made.map(({ files }) => [...files.keys()].join())).toEqual(Array(10).fill('length.txt'));
  });
});

describe('the sides of an eval', () => {
  it('do not see the evals, and the side without the skill cannot request it', async () => {
    const asked: ModelRequest[] = [];
    const wish = '```skillcell-request\n{"skills": ["custom.units", "custom.other"]}\n```\n';
    const look = programAnswer(
      'javascript',
      `import { readdirSync } from 'node:fs';
console.log(readdirSync(process.env.SKILLS_DIR ?? '.', { recursive: true }).join(' '));`,
    );
    const made: MadeEvalRun[] = [];
    const report = await evaluate({
      skills: library([{ id: 1, prompt: 'Look around.', assertions: [{ type: 'output-contains', text: 'SKILL.md' }] }]),
      model: reader((_length, request) => {
        asked.push(structuredClone(request));
        return request.messages.length === 1 ? wish : look;
      }),
      runs: 1,
      onRun: (run) => void made.push(run),
    });
    // Both sides were measured: a request for skills got nothing new.
    expect(report.results.map(({ side, status, passRate }) => `${side} ${status} ${passRate}`).toSorted()).toEqual([
      'with measured 1',
      'without measured 0',
    ]);
    const found = made.find(({ row }) => row.side === 'with')?.result;
    expect(found?.skills.active).toEqual(['custom.base', 'custom.units']);
    expect(found?.stdout.text).toContain('custom/units/references/table.md');
    expect(found?.stdout.text).toContain('custom/base/SKILL.md');
    expect(found?.stdout.text).not.toMatch(/evals|other/);
    const [withSkill, without] = ['with', 'without'].map((side) => {
      const digests = report.results.find((row) => row.side === side)?.promptSha256 ?? [];
      expect(digests).toHaveLength(2);
      return asked.filter(({ system }) => system.includes('42195') === (side === 'with'));
    });
    expect(withSkill).toHaveLength(2);
    expect(without).toHaveLength(2);
    expect(JSON.stringify(without)).not.toContain('Give SI units');
    // Apart from the skill, both sides get the same prompt.
    const rules = (request: ModelRequest | undefined): string | undefined => request?.system.split('\nSkills\n')[0];
    expect(withSkill?.[0]?.messages).toEqual(without?.[0]?.messages);
    expect(
      rules(without?.[0])
        ?.split('\n')
        .every((line) => rules(withSkill?.[0])?.includes(line.trim())),
    ).toBe(true);
  });

  it('both have the skill in an A/A eval, and the verdict is no difference', async () => {
    const report = await evaluate({ skills: library(LENGTH), model: reader(program), runs: 4, aa: true });
    expect(report).toMatchObject({
      ...{ aa: true, verdict: 'no-difference', difference: { value: 0, pValue: 1 } },
      sides: [
        { side: 'with', withSkill: true, passRate: 1 },
        { side: 'again', withSkill: true, passRate: 1 },
      ],
    });
  });

  it('show that a misleading skill is worse', async () => {
    const model = reader((length) => program(length === '42195' ? '1' : '42195'));
    expect(await evaluate({ skills: library(LENGTH), model, runs: 4 })).toMatchObject({
      verdict: 'worse',
      difference: { value: -1 },
    });
  });
});

describe('an eval run', () => {
  it('whose program fails passes no assertion, not even a negated one', async () => {
    const assertions = [{ type: 'output-contains', text: 'x', not: true }];
    const report = await evaluate({
      skills: library([{ id: 1, prompt: 'Try.', assertions }]),
      model: reader(() => programAnswer('javascript', 'throw new Error("no");')),
      runs: 1,
      job: { maxAttempts: 1 },
    });
    expect(report.results[0]).toMatchObject({ status: 'measured', outcome: 'failed', passRate: 0 });
    expect(report.results[0]?.assertions[0]).toEqual({ status: 'failed', reason: 'the program ended as failed: no' });
  });

  it('whose model fails is not measured, and three in a row end the eval', async () => {
    let asked = 0;
    const model = reader((length) => {
      asked += 1;
      if (asked > 3) throw new SkillcellError('model.failed', 'Cannot ask test/model: got 503.');
      return program(length);
    });
    const report = await evaluate({ skills: library(LENGTH), model, runs: 4 });
    expect(report).toMatchObject({
      verdict: 'could-not-measure',
      reason: expect.stringMatching(
        /, and 2 more could not be measured: model\.failed: Cannot ask test\/model: got 503\.$/,
      ),
      results: { length: 6 },
      notes: ['It was given up: too many runs in a row could not be measured.'],
    });
    expect(asked).toBe(6);
  });

  it.each<[string, object | undefined]>([
    ['reports no token usage', undefined],
    ['reports empty token usage', {}],
  ])('whose model %s is measured, and its tokens are unknown', async (_what, usage) => {
    const model = reader((length) => ({ text: program(length), usage }) as unknown as ModelAnswer);
    const report = await evaluate({ skills: library(LENGTH), model, runs: 1 });
    const tokens = { input: null, output: null };
    expect(report.results).toMatchObject([
      { status: 'measured', tokens },
      { status: 'measured', tokens },
    ]);
    expect(report.sides).toMatchObject([{ tokens }, { tokens }]);
  });

  it('whose program leaves a link at a forbidden path is not measured', async () => {
    const link = `import { symlinkSync } from 'node:fs';
symlinkSync('/etc/hosts', process.env.SKILLCELL_OUTPUT + '/a');`;
    const report = await evaluate({
      skills: library([{ id: 1, prompt: 'Try.', assertions: [{ type: 'file-exists', path: 'a', not: true }] }]),
      model: reader(() => programAnswer('javascript', link)),
      runs: 1,
    });
    expect(report.results).toMatchObject([
      { status: 'failed', reason: expect.stringContaining('"a" was left out') },
      {},
    ]);
  });

  it('that its budget ends is measured, unless the model gave no answer', async () => {
    const skills = library(LENGTH);
    const model = reader(() => programAnswer('javascript', 'throw new Error("no");'));
    const short = await evaluate({ skills, model, runs: 1, job: { budget: { modelCalls: 1 } } });
    expect(short.results[0]).toMatchObject({ status: 'measured', outcome: 'limit', passRate: 0 });
    const none = await evaluate({ skills, model, runs: 1, job: { budget: { inputTokens: 1 } } });
    expect(none).toMatchObject({ verdict: 'could-not-measure', results: [{ status: 'failed', outcome: 'limit' }, {}] });
  });

  it.each([
    ['returns no verdict', 'export default 7;', /has to hand back true, false or \{ pass, reason \}/],
    ['does not end', 'setInterval(() => {}, 1_000);', /the check evals\/c\.mjs ended as timeout/],
  ])('whose check %s is not measured', async (_what, check, reason) => {
    const assertions = [{ type: 'check', program: 'evals/c.mjs' }];
    const skills = library([{ id: 1, prompt: 'Try.', assertions }], { 'units/evals/c.mjs': check });
    const report = await evaluate({
      skills,
      model: reader(program),
      runs: 1,
      job: { limits: { runTimeoutMs: 3_000 } },
    });
    expect(report).toMatchObject({ verdict: 'could-not-measure', reason: expect.stringMatching(reason) });
    expect(report.results[0]).toMatchObject({ status: 'failed', assertions: [] });
  });

  it.each([
    ['export default { pass: false, reason: "too long" };', { status: 'failed', reason: 'too long' }],
    ['export default false;', { status: 'failed', reason: 'the check says no' }],
    ['export default { pass: true };', { status: 'passed' }],
    ['console.log("fine");', { status: 'passed' }],
  ])('gets its verdict from the check %s', async (check, outcome) => {
    const assertions = [{ type: 'check', program: 'evals/c.mjs' }];
    const skills = library([{ id: 1, prompt: 'Try.', assertions }], { 'units/evals/c.mjs': check });
    const report = await evaluate({ skills, model: reader(program), runs: 1 });
    expect(report.results[0]?.assertions).toEqual([outcome]);
  });
});

describe('a program that leaves files which its check cannot receive', () => {
  it.each<[string, string, NonNullable<EvaluateSkillOptions['job']>, RegExp]>([
    [
      'files larger than the workspace',
      `import { truncateSync, writeFileSync } from 'node:fs';
for (const name of 'abcd') {
  const path = process.env.SKILLCELL_OUTPUT + '/' + name;
  writeFileSync(path, '');
  truncateSync(path, 10 * 1024 * 1024);
}`,
      { limits: { workspaceMib: 16 } },
      /a check could not be run: file\.unreadable: .*together they are over 16777216 bytes/,
    ],
    [
      'folders at the depth limit',
      `import { mkdirSync, writeFileSync } from 'node:fs';
const folder = process.env.SKILLCELL_OUTPUT + '/d'.repeat(63);
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/a', '');`,
      { limits: { artifactDepth: 64 } },
      /a check could not be run: job\.invalid: .*deeper than 64 folders/,
    ],
  ])('such as %s, makes only its own run unmeasured', async (_what, code, job, reason) => {
    const assertions = [{ type: 'check', program: 'evals/c.mjs' }];
    const report = await evaluate({
      skills: library([{ id: 1, prompt: 'Try.', assertions }], { 'units/evals/c.mjs': 'export default true;' }),
      model: reader((length) => (length === '42195' ? program(length) : programAnswer('javascript', code))),
      runs: 2,
      job,
    });
    expect(report).toMatchObject({ verdict: 'could-not-measure', reason: expect.stringMatching(reason) });
    expect(report.results.map(({ side, status }) => `${side} ${status}`).toSorted()).toEqual([
      ...Array(2).fill('with measured'),
      ...Array(2).fill('without failed'),
    ]);
  });
});

describe('an invalid eval', () => {
  const asked: ModelRequest[] = [];
  const model = reader((length, request) => {
    asked.push(request);
    return program(length);
  });

  it.each<[string, unknown, string]>([
    ['an unknown assertion', [{ id: 1, prompt: 'x', assertions: [{ type: 'llm' }] }], 'evals.0.assertions.0.type must'],
    [
      'a pattern that looks ahead',
      [{ id: 1, prompt: 'x', assertions: [{ type: 'output-matches', pattern: '(?=a)' }] }],
      '0.pattern cannot',
    ],
    [
      'a missing input',
      [{ id: 1, prompt: 'x', files: ['evals/files/b'] }],
      'evals.0.files.0 must be a file of the skill',
    ],
    [
      'a missing check',
      [{ id: 1, prompt: 'x', assertions: [{ type: 'check', program: 'evals/b.py' }] }],
      '0.program must be',
    ],
    [
      'a check outside of the evals',
      [{ id: 1, prompt: 'x', assertions: [{ type: 'check', program: 'SKILL.md' }] }],
      '0.program must be',
    ],
    [
      'a check in no language',
      [{ id: 1, prompt: 'x', assertions: [{ type: 'check', program: 'evals/evals.json' }] }],
      '0.program names no',
    ],
    [
      'a check of blanks only',
      [{ id: 1, prompt: 'x', assertions: [{ type: 'check', program: 'evals/blank.py' }] }],
      'evals.0.assertions.0.program must not be empty',
    ],
    [
      'two inputs with the same name',
      [{ id: 1, prompt: 'x', files: ['evals/files/a', { path: 'SKILL.md', destination: 'a' }] }],
      'evals.0.files cannot lie in one working folder: two files have one destination, got a.',
    ],
    [
      'an input that is a file and a folder, in an eval after a valid one',
      [...LENGTH, { id: 1, prompt: 'x', files: ['evals/files/a', { path: 'SKILL.md', destination: 'a/b' }] }],
      'evals.1.files cannot lie in one working folder: a destination is both a file and a folder, got a.',
    ],
    [
      'an input in the output folder',
      [{ id: 1, prompt: 'x', files: [{ path: 'SKILL.md', destination: 'out/a.md' }] }],
      'evals.0.files cannot lie in one working folder: files has a destination in the output folder, got out/a.md.',
    ],
    [
      'an input at the path of the program',
      [{ id: 1, prompt: 'x', files: [{ path: 'SKILL.md', destination: 'main.mjs' }] }],
      'evals.0.files cannot lie in one working folder: files has the destination of the program itself, got main.mjs.',
    ],
  ])('is refused for %s before a model is asked, and the error names the field', async (_what, evals, message) => {
    const files = { 'units/evals/blank.py': ' \n\t\n', 'units/evals/files/a': 'a' };
    await expect(evaluate({ skills: library(evals, files), model })).rejects.toMatchObject({
      code: 'eval.invalid',
      message: expect.stringContaining(message),
    });
    expect(asked).toEqual([]);
  });

  it('is refused for an input at the path of the program in the requested language', async () => {
    const evals = [{ id: 1, prompt: 'x', files: [{ path: 'SKILL.md', destination: 'main.py' }] }];
    await expect(evaluate({ skills: library(evals), model, job: { language: 'python' } })).rejects.toMatchObject({
      code: 'eval.invalid',
      message: expect.stringContaining('the destination of the program itself, got main.py.'),
    });
    expect(asked).toEqual([]);
  });

  it('is refused for missing evals, a missing skill, missing instructions or bad options', async () => {
    const skills = library(LENGTH, { 'bare/SKILL.md': skillText({ name: 'bare', description: 'Bare.' }, '\n') });
    const options = { skills, model, job: { isolation: BEST_LEVEL } };
    const refused = async (skill: string, more: object = {}): Promise<unknown> =>
      await evaluateSkill({ ...options, skill, ...more }).catch((error: unknown) => error);
    expect(await refused('custom.other')).toMatchObject({ code: 'eval.invalid' });
    expect(await refused('custom.bare')).toMatchObject({ code: 'eval.invalid' });
    expect(await refused('custom.none')).toMatchObject({ code: 'skills.reference-unknown' });
    expect(await refused('custom.units', { runs: 0 })).toMatchObject({ code: 'options.invalid' });
    expect(await refused('custom.units', { seeds: 1 })).toMatchObject({ code: 'options.invalid' });
    expect(await refused('custom.units', { job: { task: 'x' } })).toMatchObject({ code: 'options.invalid' });
    expect(await refused('custom.units', { job: { budget: { modelCalls: 0 } } })).toMatchObject({
      code: 'job.invalid',
    });
    expect(await refused('custom.units', { job: { isolation: 'kernel', runner: 'local' } })).toMatchObject({
      code: 'runner.isolation-unmet',
    });
    expect(asked).toEqual([]);
  });
});
