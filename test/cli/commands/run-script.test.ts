import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { runMain } from '../../fixtures/run-main.ts';

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-script-'));
  const folder = join(cwd, 'skills', 'kit', 'scripts');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(cwd, 'skills', 'kit', 'SKILL.md'), '---\nname: kit\ndescription: Scripts.\n---\nRun them.\n');
  writeFileSync(join(folder, 'say.sh'), 'printf "%s|" "$@"; cat; echo >"$OUTPUT_DIR/made.txt"; exit "${CODE:-0}"\n');
  writeFileSync(join(cwd, 'skills.json'), JSON.stringify({ custom_skills_root: 'skills' }));
  const other = join(cwd, 'others', 'public', 'tool', 'scripts');
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, '..', 'SKILL.md'), '---\nname: tool\ndescription: A tool.\n---\nUse it.\n');
  writeFileSync(join(other, 'run.sh'), 'echo tool\n');
});
afterAll(() => rmSync(cwd, { recursive: true }));

const run = (...argv: string[]): ReturnType<typeof runMain> =>
  runMain(['skills', 'run', ...BEST_FLAGS, ...argv], { cwd });
const KIT = ['custom.kit', 'scripts/say.sh', '--descriptor', 'skills.json'];

describe('skillcell skills run', () => {
  it('runs a script with the words after --, and prints its outcome', async () => {
    const { code, stdout, stderr } = await run(...KIT, '--output', 'made', '--', '--json', '', '*', 'a b', '--');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '--json||*|a b|--|' });
    expect(stderr).toContain('outcome: succeeded (exit code 0');
    expect(readFileSync(join(cwd, 'made', 'made.txt'), 'utf8')).toBe('\n');
  });

  it('prints the result of a script job with --json, and ends with 1 if the script failed', async () => {
    const { code, stdout, stderr } = await run(...KIT, '--arg', 'first', '--env', 'CODE=3', '--json', '--', 'second');
    const result = JSON.parse(stdout) as JobResult;
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.not.stringContaining('outcome') as string });
    expect(result).toMatchObject({ kind: 'script', outcome: 'failed', exitCode: 3, stdout: { text: 'first|second|' } });
    expect(result.skills.active).toEqual(['custom.kit']);
  });

  it('finds the built-in skills, and those of another root', async () => {
    const { code, stdout } = await run('tool', 'scripts/run.sh', '--skills-root', 'others');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'tool\n' });
    expect((await run('tool', 'scripts/run.sh', '--root', 'others')).stdout).toBe('tool\n');
    const missing = await run('tool', 'scripts/run.sh', '--root', 'none', '--json');
    expect(missing.stdout).toContain('--root must be a folder');
    expect((await run('public.csv-cleaning', 'SKILL.md', '--json')).stdout).toContain('"script.not-listed"');
  });

  it('runs the script of a built-in skill on a file of the job', async (context) => {
    requireHere(context, MISSING_PYTHON);
    writeFileSync(join(cwd, 'table.csv'), 'Id;Rain\n1;2,5\n');
    const { code, stdout } = await run(
      'csv-cleaning',
      'scripts/profile_csv.py',
      '--file',
      'table.csv',
      '--',
      'table.csv',
    );
    expect({ code, found: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 0,
      found: { delimiter: ';', rows: 1 },
    });
  });

  it.each<[string[], string, number]>([
    [[], 'usage.invalid', 2],
    [['custom.kit'], 'usage.invalid', 2],
    [['--', 'custom.kit', 'scripts/say.sh'], 'usage.invalid', 2],
    [[...KIT, 'more'], 'usage.invalid', 2],
    [[...KIT, '--stdin', 'skills.json'], 'usage.invalid', 2],
    [[...KIT, '--language', 'bash'], 'usage.invalid', 2],
    [[...KIT, '--timeout', '0'], 'usage.invalid', 2],
    [[...KIT, '--timeout', '61'], 'job.invalid', 2],
    [[...KIT, '--', ...Array.from({ length: 101 }, () => 'a')], 'job.invalid', 2],
    [[...KIT, '--', 'a'.repeat(4_097)], 'job.invalid', 2],
    [['custom.kit', 'scripts/none.sh', '--descriptor', 'skills.json'], 'script.not-listed', 2],
    [['custom.kit', '../../skills.json', '--descriptor', 'skills.json'], 'script.not-listed', 2],
    [['custom.none', 'scripts/say.sh', '--descriptor', 'skills.json'], 'skills.reference-unknown', 2],
    [['custom.kit', 'scripts/say.sh', '--descriptor', 'none.json'], 'file.unreadable', 2],
  ])('refuses %j', async (argv, expected, exit) => {
    const cut = argv.indexOf('--');
    const json = cut < 0 ? [...argv, '--json'] : [...argv.slice(0, cut), '--json', ...argv.slice(cut)];
    const { code, stdout, stderr } = await run(...json);
    expect({ code, stderr }).toEqual({ code: exit, stderr: '' });
    expect((JSON.parse(stdout) as { error: { code: string } }).error.code).toBe(expected);
  });
});
