import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { SCRIPT_LIMITS } from '../../src/contracts/jobs/limits.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createRunScriptTool } from '../../src/jobs/run-script-tool.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { BEST_LEVEL, LEVELS, requireLevel } from '../fixtures/levels.ts';
import { sandboxLeftovers } from '../fixtures/sandbox-leftovers.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';
import { until } from '../fixtures/until.ts';

const library = skillLibrary(
  {
    'kit/SKILL.md': skillText({ name: 'kit', description: 'Scripts.', import: ['custom.base'] }, 'Run them.'),
    'kit/scripts/sum.mjs': `import { setValue } from 'skillcell';
import { readdirSync } from 'node:fs';
console.log(process.argv.slice(2).join('+'), readdirSync(process.env.WORKSPACE).join());
setValue(process.argv.slice(2).reduce((sum, text) => sum + Number(text), 0));\n`,
    'kit/scripts/fails.sh': 'echo on its way; echo why >&2; exit 3\n',
    'kit/scripts/calls.mjs':
      "import { tools } from 'skillcell';\nconsole.log(await tools.call('skills.run_script', {}).catch(({ code }) => code));\n",
    'kit/scripts/waits.sh': 'sleep 600\n',
    'kit/scripts/floods.sh': "head -c 200000 /dev/zero | tr '\\0' x\n",
    'kit/scripts/needs.py': '# /// script\n# dependencies = ["not-there"]\n# ///\n',
    'base/SKILL.md': skillText({ name: 'base', description: 'Imported.' }, 'Base.'),
    'base/scripts/base.sh': 'echo base\n',
    'other/SKILL.md': skillText({ name: 'other', description: 'Not of the job.' }, 'Other.'),
    'other/scripts/other.sh': 'echo other\n',
  },
  { agentsConfig: { reader: { disabled: ['custom.base'] } } },
);
const stateDir = mkdtempSync(join(tmpdir(), 'run-script-'));
const orchestrator = createOrchestrator({ skills: library.subsystem, concurrency: 1, stateDir });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
  rmSync(stateDir, { recursive: true });
});

const CALL = `import { tools } from 'skillcell';
const run = (skill, script, args) => tools.call('skills.run_script', { skill, script, ...(args === undefined ? {} : { args }) })
  .catch(({ code, message }) => ({ code, message }));\n`;
const exec = (code: string, options: Partial<ExecOptions> = {}): Promise<JobResult> =>
  orchestrator.exec({
    code: CALL + code,
    tools: ['skills.*'],
    skills: { refs: ['custom.kit'] },
    isolation: BEST_LEVEL,
    ...options,
  });

it('the call of a script lasts longer than the script may', () => {
  const tool = createRunScriptTool({ jobOf: () => undefined, run: () => Promise.reject(new Error('not reached')) });
  expect(tool.timeoutMs).toBeGreaterThan(SCRIPT_LIMITS.runTimeoutMs);
});

describe.each(LEVELS)('skills.run_script at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));
  let job: Promise<JobResult> | undefined;
  /** Of one job for all tests, since each script takes a sandbox. */
  const result = (): Promise<JobResult> =>
    (job ??= exec(
      `const early = await run('custom.other', 'scripts/other.sh');
await tools.skills.load({ skill: 'custom.other' });
export default { early, other: await run('custom.other', 'scripts/other.sh'), sum: await run('custom.kit', 'scripts/sum.mjs', ['1', '2']) };`,
      { isolation, files: { 'in.txt': 'x' } },
    ));

  it('runs a script of a skill that the job has loaded meanwhile, and not of other skills', async () => {
    const { value } = await result();
    expect(value).toMatchObject({ early: { code: 'tool.failed' }, other: { stdout: { text: 'other\n' } } });
  });

  it('runs a script in a sandbox of its own while the job holds the only place', async () => {
    const { value, callTotals } = await result();
    expect((value as { sum: unknown }).sum).toEqual({
      outcome: 'succeeded',
      exitCode: 0,
      stdout: { text: '1+2 out\n', bytes: 8, truncated: false },
      stderr: { text: '', bytes: 0, truncated: false },
      value: 3,
    });
    expect(callTotals).toMatchObject({ 'skills.run_script': { calls: 3, failed: 1 } });
  });
});

describe('skills.run_script', () => {
  let job: Promise<JobResult> | undefined;
  /** Of one job for several tests. */
  const values = async (): Promise<Record<string, unknown>> => {
    job ??=
      exec(`export default { fails: await run('custom.kit', 'scripts/fails.sh'), floods: await run('custom.kit', 'scripts/floods.sh'),
      calls: await run('custom.kit', 'scripts/calls.mjs'), base: await run('custom.base', 'scripts/base.sh'), other: await run('custom.other', 'scripts/other.sh'),
      path: await run('custom.kit', 'scripts/../SKILL.md'), long: await run('custom.kit', 'scripts/sum.mjs', ['x'.repeat(5000)]),
      shape: await run('../kit', 5), needs: await run('custom.kit', 'scripts/needs.py') };`);
    return (await job).value as Record<string, unknown>;
  };

  it('returns a failed script as its result', async () => {
    expect((await values())['fails']).toMatchObject({
      outcome: 'failed',
      exitCode: 3,
      stdout: { text: 'on its way\n' },
      stderr: { text: 'why\n' },
    });
  });

  it('accepts only skills of the job, by the policy of its consumer', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { base, other, path, needs, long, shape } = (await values()) as Record<string, Record<string, unknown>>;
    expect(base).toMatchObject({ stdout: { text: 'base\n' } });
    expect(other).toEqual({
      code: 'tool.failed',
      message: 'Cannot run a script: the skills of the job are custom.base, custom.kit, got "custom.other".',
    });
    expect(path?.['message']).toMatch(/^Cannot run a script of custom\.kit: the scripts of the skill are /);
    expect(needs?.['message']).toContain('not-there (not installed)');
    expect(long?.['message']).toContain('4096 bytes');
    expect(shape?.['code']).toBe('tool.invalid-arguments');
    const denied = await exec("export default await run('custom.base', 'scripts/base.sh');", {
      skills: { refs: ['custom.kit'], consumer: 'reader' },
    });
    expect(denied.value).toMatchObject({ code: 'tool.failed' });
    const none = await exec("export default await run('custom.kit', 'scripts/sum.mjs');", { skills: {} });
    expect(none.value).toEqual({
      code: 'tool.failed',
      message: 'Cannot run a script: the job has no skills, got "custom.kit".',
    });
  });

  it('keeps as much output as a call can hold, and gives scripts no tools', async () => {
    const { floods, calls } = (await values()) as Record<string, { stdout: JobResult['stdout'] }>;
    expect(floods?.stdout).toMatchObject({ bytes: 200_000, truncated: true });
    expect(floods?.stdout.text).toHaveLength(64 * 1024);
    expect(calls?.stdout.text).toBe('tool.not-allowed\n');
  });

  it('completes many calls of many jobs', async () => {
    const numbers = [1, 2, 3];
    const code = `export default (await Promise.all(${JSON.stringify(numbers)}.map((n) => run('custom.kit', 'scripts/sum.mjs', [String(n)])))).map(({ value }) => value);`;
    const results = await Promise.all([exec(code), exec(code)]);
    expect(results.map(({ value }) => value)).toEqual([numbers, numbers]);
  });

  it('is offered only if a job names it and there are skills', async () => {
    const without = await exec("export default await run('custom.kit', 'scripts/sum.mjs');", { tools: [] });
    expect(without.value).toMatchObject({ code: 'tool.not-allowed' });
    await using bare = createOrchestrator();
    await expect(bare.exec({ code: '1', tools: ['skills.run_script'] })).rejects.toMatchObject({ code: 'job.invalid' });
  });

  it('ends with the calling job, and is a job of its own in the journal', async () => {
    const before = new Set(sandboxLeftovers());
    const job = orchestrator.stream({
      kind: 'exec',
      isolation: BEST_LEVEL,
      code: `${CALL}await run('custom.kit', 'scripts/waits.sh');`,
      tools: ['skills.run_script'],
      skills: { refs: ['custom.kit'] },
    });
    const accepted = (): number =>
      readdirSync(stateDir)
        .filter((name) => name.startsWith('accepted-'))
        .flatMap((name) => readFileSync(join(stateDir, name), 'utf8').trim().split('\n'))
        .filter((line) => line.includes('"script"')).length;
    const scripts = accepted();
    await until(() => accepted() > scripts, 'the script to be accepted');
    orchestrator.cancel(job.jobId, 'the test is over');
    expect(await job.result).toMatchObject({ outcome: 'canceled' });
    await until(() => sandboxLeftovers().every((row) => before.has(row)), 'the end of both sandboxes');
    expect(existsSync(join(stateDir, 'results'))).toBe(true);
  });
});
