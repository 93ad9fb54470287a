import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runMain } from '../../fixtures/run-main.ts';

const BROKEN = '\uFEFF---\r\nname: PDF Press\r\ndescription: Use: this\r\n---\r\nx\u200by\r\n';
const MENDED = '---\r\nname: pdf-press\r\ndisplayName: PDF Press\r\ndescription: "Use: this"\r\n---\r\nxy\r\n';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-fix-'));
  mkdirSync(join(cwd, 'pdf-press'));
});
afterEach(() => rmSync(cwd, { recursive: true }));
const write = (path: string, text: string): void => writeFileSync(join(cwd, path), text);
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8');
const validate = (...argv: string[]): ReturnType<typeof runMain> => runMain(['skills', 'validate', ...argv], { cwd });

describe('skillcell skills validate --fix', () => {
  it('fixes a file in place, keeps its mode, and lists the fixes', async () => {
    write('pdf-press/skill.md', BROKEN);
    write('pdf-press/compact.md', 'a\u202eb\n');
    chmodSync(join(cwd, 'pdf-press/skill.md'), 0o751);
    const dry = await validate('.', '--fix', '--dry-run');
    expect([read('pdf-press/skill.md'), readdirSync(join(cwd, 'pdf-press'))]).toEqual([
      BROKEN,
      ['compact.md', 'skill.md'],
    ]);
    const run = await validate('.', '--fix');
    expect(run).toEqual({
      code: 0,
      stderr: '',
      stdout: `fixed pdf-press/skill.md: renamed to SKILL.md
fixed pdf-press/SKILL.md:1: removed the byte order mark
fixed pdf-press/SKILL.md:5: removed 1 hidden character
fixed pdf-press/SKILL.md:3: put the value of description in quotes
fixed pdf-press/SKILL.md:2: set the name to "pdf-press", it was "PDF Press"
fixed pdf-press/SKILL.md:3: kept the old name as displayName
fixed pdf-press/compact.md:1: removed 1 hidden character
valid pdf-press (custom.pdf-press)
`,
    });
    expect(dry.stdout.match(/^would fix/gm)).toHaveLength(7);
    expect([read('pdf-press/SKILL.md'), read('pdf-press/compact.md')]).toEqual([MENDED, 'ab\n']);
    expect(statSync(join(cwd, 'pdf-press/SKILL.md')).mode & 0o777).toBe(0o751);
    expect(readdirSync(join(cwd, 'pdf-press'))).toEqual(['SKILL.md', 'compact.md']);
    expect((await validate('.', '--fix')).stdout).toBe('valid pdf-press (custom.pdf-press)\n');
  });

  it('prints the fixes as JSON, and validates the result', async () => {
    write('pdf-press/SKILL.md', '\uFEFF---\nname: x\n---\n');
    const { code, stdout } = await validate('pdf-press/SKILL.md', '--fix', '--json', '--strict');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      dryRun: false,
      fixes: [
        { path: 'pdf-press/SKILL.md', line: 1, what: 'removed the byte order mark' },
        { path: 'pdf-press/SKILL.md', line: 2, what: 'set the name to "pdf-press", it was "x"' },
      ],
      skills: [{ valid: false, diagnostics: [{ code: 'strict.description-missing' }] }],
    });
  });

  it('follows no link, and overwrites nothing by a rename', async () => {
    write('elsewhere.md', BROKEN);
    symlinkSync('../elsewhere.md', join(cwd, 'pdf-press/SKILL.md'));
    write('pdf-press/skill.md', '---\nname: pdf-press\ndescription: x\n---\n');
    expect((await validate('pdf-press', '--fix')).stdout).not.toContain('fixed');
    expect(read('elsewhere.md')).toBe(BROKEN);
    expect(readdirSync(join(cwd, 'pdf-press'))).toEqual(['SKILL.md', 'skill.md']);
  });

  it('removes the leftovers of a dead run, which would be files of the skill', async () => {
    write('pdf-press/SKILL.md', BROKEN);
    write('pdf-press/.000000000000-1-1-1-ab.part', 'half');
    await validate('.', '--fix');
    expect(readdirSync(join(cwd, 'pdf-press'))).toEqual(['SKILL.md']);
  });

  it('refuses --dry-run alone', async () => {
    expect(await validate('.', '--dry-run')).toMatchObject({ code: 2, stdout: '' });
  });
});
