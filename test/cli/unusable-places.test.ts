import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { giveToOrdinary, requireOrdinaryUser, runOrdinary } from '../fixtures/ordinary-cli.ts';
import { runMain } from '../fixtures/run-main.ts';

let scene: string;
beforeEach(() => {
  scene = realpathSync(mkdtempSync(join(tmpdir(), 'unusable-places-')));
  chmodSync(scene, 0o755);
  writeTree(scene, { 'src/a/SKILL.md': skill('a'), 'src/b/SKILL.md': skill('b') });
  mkdirSync(join(scene, 'home'));
  mkdirSync(join(scene, 'project'));
});
afterEach(() => removeTree(scene));

const skill = (name: string): string => `---\nname: ${name}\ndescription: Is about ${name}.\n---\nText.\n`;

describe('a working folder that was removed', () => {
  it.each(['verify', 'sources', 'new x'])('is reported, and ends the command: skills %s', async (name) => {
    const gone = join(scene, 'gone');
    mkdirSync(gone);
    // A shell goes there, removes it, and starts the command in it.
    const program = fileURLToPath(new URL('../../bin/skillcell.js', import.meta.url));
    const script = `rmdir "$PWD" && exec "$0" "$1" skills ${name}`;
    const { status, stderr } = spawnSync('/bin/sh', ['-c', script, process.execPath, program], {
      cwd: gone,
      encoding: 'utf8',
    });
    expect(stderr).toContain('Cannot use a path: the working folder no longer exists');
    expect(status).toBe(2);
  });
});

describe('a home that cannot hold a cache', () => {
  it.each([
    ['/dev/null', 'its parent is not a folder (ENOTDIR, mkdir), got "/dev/null/.cache"'],
    ['/proc/x', 'no folder can be created there (ENOENT, mkdir), got "/proc/x"'],
  ])('is reported, and ends the command: %s', async (HOME, reason) => {
    const { code, stderr } = await runMain(['skills', 'add', '../src', '--list'], {
      cwd: join(scene, 'project'),
      env: { HOME },
    });
    expect(stderr).toBe(
      `Cannot use a path: ${reason}.\nChange the permissions of the path in the message, or choose another path.\n`,
    );
    expect(code).toBe(2);
  });

  it('does not stop a search', async () => {
    const { code, stdout } = await runMain(['skills', 'search', 'chart'], { cwd: scene, env: { HOME: '/proc/x' } });
    expect([code, stdout]).toEqual([0, expect.stringContaining('chart')]);
  });
});

describe('a folder without rights', () => {
  it('that cannot be written is reported, and is no fault of skillcell', (context) => {
    requireOrdinaryUser(context);
    giveToOrdinary(join(scene, 'home'));
    chmodSync(join(scene, 'project'), 0o555);
    for (const argv of [
      ['add', '../src'],
      ['import', '../src', '--into', '.'],
      ['new', 'c'],
    ]) {
      const at = { cwd: join(scene, 'project'), home: join(scene, 'home') };
      const { code, stderr } = runOrdinary(['skills', ...argv], at);
      expect(stderr).toContain('Cannot use a path: permission denied (EACCES, ');
      expect(stderr).toContain(`got "${join(scene, 'project')}`);
      expect(stderr).not.toMatch(/fault of skillcell|\.part/);
      expect([argv, code]).toEqual([argv, 2]);
    }
  });

  it('of one skill leaves that skill out, and lists and takes the others', (context) => {
    requireOrdinaryUser(context);
    giveToOrdinary(scene);
    const files = join(scene, 'project', '.agents', 'skills');
    writeTree(files, { 'a/SKILL.md': skill('a'), 'b/SKILL.md': skill('b'), 'c/SKILL.md': skill('c'), 'c/x/y': '' });
    writeTree(join(scene, 'home'), {
      '.agents/skills/b/SKILL.md': skill('b'),
      '.agents/skills/d/SKILL.md': skill('d'),
    });
    giveToOrdinary(scene);
    chmodSync(join(files, 'a/SKILL.md'), 0);
    chmodSync(join(files, 'c/x'), 0);
    chmodSync(join(scene, 'home/.agents/skills/d/SKILL.md'), 0);
    const at = { cwd: join(scene, 'project'), home: join(scene, 'home') };
    const list = runOrdinary(['skills', 'add', '.agents/skills', '--list', '--json'], at);
    expect([list.code, list.stderr]).toEqual([0, '']);
    const { skills, diagnostics } = JSON.parse(list.stdout) as {
      skills: { id: string }[];
      diagnostics: { code: string; path: string }[];
    };
    expect(skills.map(({ id }) => id)).toEqual(['custom.b']);
    expect(diagnostics.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
      'skill.unreadable a/SKILL.md',
      'skill.unreadable c/x',
    ]);
    const loaded = runOrdinary(['skills', 'list', '--sources', 'user'], at);
    expect([loaded.code, loaded.stdout]).toEqual([0, expect.stringContaining('custom.b')]);
    expect(loaded.stderr).toContain('skill.unreadable');
  });

  it('that is the whole source fails the command, and never passes for an empty source', (context) => {
    requireOrdinaryUser(context);
    writeTree(join(scene, 'home'), { '.agents/skills/a/SKILL.md': skill('a') });
    giveToOrdinary(scene);
    const at = { cwd: join(scene, 'project'), home: join(scene, 'home') };
    for (const mode of [0o300, 0o600]) {
      chmodSync(join(scene, 'home/.agents/skills'), mode);
      const { code, stderr } = runOrdinary(['skills', 'list', '--sources', 'user'], at);
      expect(stderr).toContain('Cannot read skills: this user may not read the folder');
      expect([mode, code]).toEqual([mode, 3]);
    }
  });
});

describe('a missing source', () => {
  it('is refused with the reason, and so is a file that is no archive', async () => {
    writeFileSync(join(scene, 'plain.tar'), '');
    execFileSync('mkfifo', [join(scene, 'p.zip')]);
    for (const [source, reason] of [
      ['./nothere', 'there is no such file or folder'],
      ['./nothere.zip', 'there is no such file or folder'],
      ['./nothere#main', 'there is no such file or folder'],
      ['./plain.tar', 'it is no folder, and its name does not end in .zip, .skill, .tar.gz or .tgz'],
      ['./p.zip', 'it is no regular file'],
    ] as const) {
      const env = { HOME: join(scene, 'home') };
      const { code, stderr } = await runMain(['skills', 'add', source, '--list'], { cwd: scene, env });
      expect(stderr).toContain(`Cannot use the source: ${reason}, got "${source}".\nName a source`);
      expect([source, code]).toEqual([source, 2]);
    }
  });
});

describe('a fifo in a skill', () => {
  it.each([
    ['add', '../src', '--list'],
    ['add', '../src'],
    ['pack', '../src/a', '--output', 'a.zip'],
    ['validate', '../src/a'],
    ['list', '--root', '../src'],
  ])('is reported by %s', async (...argv) => {
    mkdirSync(join(scene, 'src/a/files'));
    execFileSync('mkfifo', [join(scene, 'src/a/files/p')]);
    const at = { cwd: join(scene, 'project'), env: { HOME: join(scene, 'home') } };
    const { code, stdout, stderr } = await runMain(['skills', ...argv], at);
    expect([argv, code]).toEqual([argv, 0]);
    expect(stdout + stderr).toMatch(/ (?:a\/)?files\/p: .*(?:no regular file|neither file, folder nor link)/);
    expect(existsSync(join(scene, 'project/.agents/skills/a/files'))).toBe(false);
  });
});
