import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { readManifest } from '../../../src/skills/load/read-manifest.ts';
import { skillDigest, digestOf } from '../../../src/skills/text/digest.ts';
import { rawZip } from '../../fixtures/archives/raw-zip.ts';
import { describeWith, MISSING_STRACE } from '../../fixtures/describe-with.ts';
import { type MainRun, runMain, startMain } from '../../fixtures/run-main.ts';
import { runCli } from '../../fixtures/spawn-cli.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-archives-'));
});
afterEach(() => removeTree(cwd));

const skillcell = (...argv: string[]): Promise<MainRun> => runMain(['skills', ...argv], { cwd });
const asJson = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
const SKILL = '---\nname: units\ndescription: Units.\n---\nGive SI units.\n';

function addSkill(folder = 'units'): void {
  mkdirSync(join(cwd, folder, 'scripts'), { recursive: true });
  writeFileSync(join(cwd, folder, 'SKILL.md'), SKILL);
  writeFileSync(join(cwd, folder, 'scripts/ünits.py'), 'print(1)\n');
  writeFileSync(join(cwd, folder, 'scripts/run.sh'), '#!/bin/sh\n');
  chmodSync(join(cwd, folder, 'scripts/run.sh'), 0o755);
  chmodSync(join(cwd, folder, 'scripts/ünits.py'), 0o644);
  writeFileSync(join(cwd, folder, 'empty'), '');
}

function digestIn(folder: string): string {
  const { files } = readManifest(join(cwd, folder));
  return skillDigest(files ?? []);
}

describe('skillcell skills pack and unpack', () => {
  it.each([[[]], [['--store']]])('unpack a packed skill %j with each byte, name and executable bit', async (flags) => {
    addSkill();
    const packed = await skillcell('pack', 'units', ...flags);
    const digest = digestIn('units');
    expect(packed).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^units\\.skill: 4 files, \\d+ bytes, ${digest}\n$`)),
      stderr: '',
    });
    expect(await skillcell('unpack', 'units.skill', '--output', 'copy', '--json')).toMatchObject({ code: 0 });
    expect(digestIn('copy')).toBe(digest);
    expect(statSync(join(cwd, 'copy/scripts/run.sh')).mode & 0o7777).toBe(0o755);
    expect(statSync(join(cwd, 'copy/scripts/ünits.py')).mode & 0o7777).toBe(0o644);
    expect(readdirSync(cwd).toSorted()).toEqual(['copy', 'units', 'units.skill']);
  });

  it('have default names, and print one document with --json', async () => {
    addSkill();
    const { stdout } = await skillcell('pack', 'units/', '--json');
    const digest = digestIn('units');
    expect(asJson(stdout)).toMatchObject({ file: 'units.skill', digest, diagnostics: [] });
    expect(asJson(stdout)['bytes']).toBe(statSync(join(cwd, 'units.skill')).size);
    removeTree(join(cwd, 'units'));
    const { stdout: of } = await skillcell('unpack', 'units.skill', '--json');
    expect(asJson(of)).toMatchObject({
      folder: 'units',
      digest,
      diagnostics: [],
      files: [
        { path: 'SKILL.md', bytes: SKILL.length, executable: false, digest: digestOf(SKILL) },
        { path: 'empty', bytes: 0 },
        { path: 'scripts/run.sh', executable: true },
        { path: 'scripts/ünits.py' },
      ],
    });
  });

  it('pack the same bytes by --store in any time zone, and with any mask, file times and order on disk', async () => {
    addSkill();
    const golden = 'sha256:8f3e40e78d61073b9a0d31ba788a7426f95728a6523ca94706f9c7d85bc5f2d3';
    for (const [zone, mask, time] of [
      ['UTC', 0o022, 0],
      ['Pacific/Kiritimati', 0o077, 1e9],
      ['America/St_Johns', 0o000, 2e9],
    ] as const) {
      removeTree(join(cwd, 'units.skill'));
      utimesSync(join(cwd, 'units/SKILL.md'), time, time);
      const program = `process.umask(${mask}); await import(${JSON.stringify(join(process.cwd(), 'bin/skillcell.js'))})`;
      execFileSync(
        process.execPath,
        ['--input-type=module', '-e', program, '--', 'skillcell', 'skills', 'pack', 'units', '--store'],
        {
          cwd,
          env: { ...process.env, TZ: zone },
        },
      );
      expect(digestOf(readFileSync(join(cwd, 'units.skill'))), zone).toBe(golden);
      expect(statSync(join(cwd, 'units.skill')).mode & 0o777).toBe(0o666 & ~mask);
    }
  });
});

describe('skillcell skills pack', () => {
  it('names links and files that it leaves out', async () => {
    addSkill();
    symlinkSync('/etc/passwd', join(cwd, 'units/link'));
    mkdirSync(join(cwd, 'units/sub'));
    symlinkSync('/etc', join(cwd, 'units/sub/etc'));
    for (const name of ['.env', '.DS_Store', '._SKILL.md', '.npmrc', '.hidden'])
      writeFileSync(join(cwd, 'units', name), 'x');
    const { code, stderr } = await skillcell('pack', 'units');
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual([
      'warning skill.link link: Links are never followed: link.',
      'warning skill.link sub/etc: Links are never followed: etc.',
      'warning archive.left-out .DS_Store: Files that systems and tools leave behind are left out: ".DS_Store", "._SKILL.md", ".env", ".npmrc".',
      '',
    ]);
    const { stdout } = await skillcell('unpack', 'units.skill', '-o', 'copy', '--json');
    expect((asJson(stdout)['files'] as { path: string }[]).map(({ path }) => path)).toContain('.hidden');
    expect(existsSync(join(cwd, 'copy/link'))).toBe(false);
  });

  it.each([
    ['nothing', ['pack', 'none'], 'Cannot read DIR: there is no such folder, got "none".'],
    [
      'a file',
      ['pack', 'file.zip'],
      'Cannot read DIR: it is no folder, got "file.zip".\nName the folder of one skill,',
    ],
    [
      'a folder without SKILL.md',
      ['pack', '.', '-o', 'x.zip'],
      'Cannot read DIR: it holds no SKILL.md, got ".".\nName the folder of one skill,',
    ],
    ['an existing file', ['pack', 'units', '-o', 'file.zip'], 'something is there already, and stays as it is'],
    ['a missing folder', ['pack', 'units', '-o', 'no/x.zip'], 'it must be a new name in an existing folder'],
    ['another format', ['pack', 'units', '-o', 'x.tar.gz'], 'it must end in .zip or .skill'],
    ['no value', ['pack', 'units', '-o'], '--output needs a value'],
    ['a flag of another command', ['pack', 'units', '-j'], 'there is no flag -j'],
  ])('refuses %s, and writes nothing', async (_what, argv, message) => {
    addSkill();
    writeFileSync(join(cwd, 'file.zip'), 'own');
    const { code, stdout, stderr } = await skillcell(...argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(readdirSync(cwd).toSorted()).toEqual(['file.zip', 'units']);
    expect(readFileSync(join(cwd, 'file.zip'), 'utf8')).toBe('own');
  });

  it('gives the same archive again in the folder that it packs, without the first archive in it', async () => {
    addSkill();
    const pack = (...argv: string[]): Promise<MainRun> =>
      runMain(['skills', 'pack', '.', '--store', ...argv], { cwd: join(cwd, 'units') });
    expect(await pack()).toMatchObject({ code: 0, stderr: '' });
    const first = readFileSync(join(cwd, 'units/units.skill'));
    const again = await pack();
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('archive.left-out units.skill') as string]);
    expect(await pack('-o', 'scripts/other.zip')).toMatchObject({ code: 0 });
    expect(await pack('-o', 'scripts/other.zip')).toMatchObject({ code: 0 });
    for (const name of ['units.skill', 'scripts/other.zip'])
      expect(readFileSync(join(cwd, 'units', name)).equals(first), name).toBe(true);
    writeFileSync(join(cwd, 'units/empty'), 'no longer');
    expect((await pack()).stderr).toContain('something is there already, and stays as it is');
    expect(readFileSync(join(cwd, 'units/units.skill')).equals(first)).toBe(true);
  });

  it('writes nothing once it is interrupted', async () => {
    addSkill();
    const { done, signal } = startMain(['skills', 'pack', 'units'], { cwd });
    signal('SIGINT');
    expect(await done).toMatchObject({ code: 130, stdout: '' });
    expect(readdirSync(cwd)).toEqual(['units']);
  });

  it('refuses archives that unpack would refuse', async () => {
    addSkill();
    writeFileSync(join(cwd, 'units/large'), '');
    truncateSync(join(cwd, 'units/large'), 50 * 1024 * 1024);
    expect((await skillcell('pack', 'units')).stderr).toContain('error archive.size');
    truncateSync(join(cwd, 'units/large'), 11 * 1024 * 1024);
    expect((await skillcell('pack', 'units', '--store')).stderr).toContain('error archive.size');
    truncateSync(join(cwd, 'units/large'), 0);
    writeFileSync(join(cwd, 'units/LARGE'), '');
    const { code, stderr } = await skillcell('pack', 'units');
    expect([code, stderr]).toEqual([2, expect.stringContaining('error zip.collision')]);
    expect(stderr).toContain('Cannot pack the skill "units": two names that are the same on some systems');
    expect(readdirSync(cwd)).toEqual(['units']);
  });
});

describe('skillcell skills unpack', () => {
  const archive = (entries: Parameters<typeof rawZip>[0], name = 'a.zip'): void =>
    writeFileSync(join(cwd, name), rawZip(entries));

  it('takes a SKILL.md at the root, by the name of the archive', async () => {
    archive([{ name: 'SKILL.md', content: SKILL }], 'units.zip');
    expect(await skillcell('unpack', 'units.zip')).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(join(cwd, 'units'))).toEqual(['SKILL.md']);
  });

  it('names files that it leaves out, and a folder name that differs from SKILL.md (H21, H25)', async () => {
    archive([
      { name: 'other/SKILL.md', content: SKILL },
      { name: 'other/.git/config', content: '[core]\n' },
      { name: '__MACOSX/other/._SKILL.md', content: 'x' },
      { name: 'README.md', content: 'x' },
    ]);
    const { code, stdout, stderr } = await skillcell('unpack', 'a.zip');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^other: 1 file, \d+ bytes, sha256:/)]);
    expect(stderr.split('\n')).toEqual([
      'warning archive.left-out other/.git/config: Files that systems and tools leave behind are left out: "other/.git/config", "__MACOSX/other/._SKILL.md".',
      'warning archive.beside README.md: Files outside of a skill folder are left out: "README.md".',
      'warning skill.name-mismatch other/SKILL.md:2:1: The name "units" is not that of the folder, "other".',
      '',
    ]);
    expect(readdirSync(cwd).toSorted()).toEqual(['a.zip', 'other']);
  });

  it.each([
    ['no skill', [{ name: 'README.md' }], 'it holds no SKILL.md'],
    ['two skills', [{ name: 'a/SKILL.md' }, { name: 'b/skill.md' }], 'it holds more than one skill, in "a", "b"'],
    ['a skill further down', [{ name: 'a/b/SKILL.md' }], 'neither at the root nor in one folder, but in "a/b"'],
    ['a link', [{ name: 'SKILL.md', mode: 0o120_777 }], 'a link, got "SKILL.md"'],
  ])('refuses an archive with %s, and writes nothing', async (_what, entries, message) => {
    archive(entries);
    const { code, stdout, stderr } = await skillcell('unpack', 'a.zip');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    const { stdout: json } = await skillcell('unpack', 'a.zip', '--json');
    expect(asJson(json)['error']).toMatchObject({
      code: 'archive.refused',
      diagnostics: [{ code: expect.stringMatching(/^(?:archive|zip)\./), severity: 'error' }],
    });
    expect(readdirSync(cwd)).toEqual(['a.zip']);
  });

  it('refuses more than 10 MiB before it reads them, and anything but a regular file', async () => {
    archive([{ name: 'SKILL.md', content: SKILL }], 'units.zip');
    truncateSync(join(cwd, 'units.zip'), 10 * 1024 * 1024 + 1);
    expect(await skillcell('unpack', 'units.zip')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error archive.size "units.zip"'),
    });
    execFileSync('mkfifo', [join(cwd, 'fifo')]);
    for (const name of ['none.zip', 'fifo', '.', '/dev/zero'])
      expect((await skillcell('unpack', name)).stderr, name).toContain('Cannot read FILE');
  });

  it('and pack report an unusable place before they write anything', async () => {
    addSkill();
    archive([{ name: 'units/SKILL.md', content: SKILL }]);
    for (const argv of [
      ['unpack', 'a.zip', '-o', '/proc/x'],
      ['pack', 'units', '-o', '/proc/x.zip'],
    ]) {
      const { code, stderr } = await skillcell(...argv);
      // The system checks the rights of a user first, and root has them.
      expect([code, stderr.split('\n')[0]]).toEqual([
        2,
        process.getuid?.() === 0
          ? `Cannot use --output: no file or folder can be made there, got "${argv.at(-1)}".`
          : (expect.stringMatching(/^Cannot use (?:--output|a place): /) as string),
      ]);
    }
  });

  it('refuses to overwrite existing files and dangling links', async () => {
    archive([{ name: 'units/SKILL.md', content: SKILL }]);
    mkdirSync(join(cwd, 'units'));
    symlinkSync('nowhere', join(cwd, 'link'));
    for (const argv of [[], ['-o', 'link'], ['-o', 'a.zip'], ['-o', '.'], ['-o', '']]) {
      const { code, stderr } = await skillcell('unpack', 'a.zip', ...argv);
      expect([code, stderr], argv.join(' ')).toEqual([
        2,
        expect.stringMatching(/^Cannot use --output: (?:some|it must)/),
      ]);
    }
    expect(readdirSync(join(cwd, 'units'))).toEqual([]);
  });

  it('completes one of several runs that unpack into one place, and refuses the others (H22)', async () => {
    addSkill();
    await skillcell('pack', 'units');
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => runCli(['skills', 'unpack', 'units.skill', '-o', 'copy'], { cwd })),
    );
    expect(runs.map(({ code }) => code ?? 9).toSorted((a, b) => a - b)).toEqual([0, 2, 2, 2]);
    expect(digestIn('copy')).toBe(digestIn('units'));
    expect(readdirSync(cwd).toSorted()).toEqual(['copy', 'units', 'units.skill']);
  });
});

describeWith('a run that is killed', MISSING_STRACE, () => {
  const program = join(process.cwd(), 'bin/skillcell.js');
  /** Kills a command at the nth of some system calls. @returns false if the command makes fewer of them */
  const killAt = async (calls: string, when: number, argv: readonly string[]): Promise<boolean> => {
    const trace = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`];
    const inject = ['-e', `inject=${calls}:signal=KILL:when=${when}`];
    const child = spawn('strace', [...trace, ...inject, process.execPath, program, 'skills', ...argv], {
      cwd,
      stdio: 'ignore',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code !== 0;
  };

  it.each([
    [
      'unpack',
      'new',
      ['?mkdir,?mkdirat', '?rename,?renameat,?renameat2', '?chmod,?fchmodat', 'fsync', 'pwrite64,write'],
    ],
    ['pack', 'new.zip', ['?link,?linkat', '?unlink,?unlinkat', '?chmod,?fchmodat', 'fsync', 'pwrite64,write']],
  ])('of %s leaves all or nothing, and the next run removes its leftovers (H22)', async (command, goal, groups) => {
    addSkill();
    await skillcell('pack', 'units');
    const argv = [command, command === 'pack' ? 'units' : 'units.skill', '-o', goal];
    for (const calls of groups) {
      let killed = 0;
      while (await killAt(calls, killed + 1, argv)) {
        killed += 1;
        const at = `${calls} ${killed}`;
        if (existsSync(join(cwd, goal))) {
          // Complete, even if later steps are missing.
          if (command === 'pack') expect((await skillcell('unpack', goal, '-o', 'new')).code, at).toBe(0);
          expect(digestIn('new'), at).toBe(digestIn('units'));
          removeTree(join(cwd, goal));
          removeTree(join(cwd, 'new'));
        }
        expect(await skillcell(...argv), at).toMatchObject({ code: 0 });
        expect(readdirSync(cwd).toSorted(), at).toEqual([goal, 'units', 'units.skill'].toSorted());
        removeTree(join(cwd, goal));
      }
      expect(killed, calls).toBeGreaterThan(0);
      removeTree(join(cwd, goal));
    }
  });
});
