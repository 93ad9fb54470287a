import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { onlySkill, openArchive } from '../../src/archives/open-archive.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { missingCommand } from '../fixtures/missing-command.ts';
import { attributes, longName, rawTarGz } from '../fixtures/archives/raw-tar.ts';
import { NAMES_WITH_JOINERS } from '../fixtures/names-with-joiners.ts';
import { rawZip } from '../fixtures/archives/raw-zip.ts';

const FILES: Readonly<Record<string, string>> = {
  'SKILL.md': '---\nname: units\ndescription: Units.\n---\nBody.\n',
  'data/über 表.csv': 'a,b\n',
  [`data/${'long'.repeat(40)}.txt`]: 'long\n'.repeat(5_000),
  empty: '',
  'scripts/run': '#!/bin/sh\n',
  ...Object.fromEntries(NAMES_WITH_JOINERS.map((name) => [`names/${name}`, 'x\n'])),
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'accepted-'));
  for (const [path, content] of Object.entries(FILES)) {
    const place = join(folder, 'units', path);
    mkdirSync(join(place, '..'), { recursive: true });
    writeFileSync(place, content);
    chmodSync(place, path === 'scripts/run' ? 0o755 : 0o644);
  }
});
afterAll(() => removeTree(folder));

const run = (program: string, ...argv: string[]): void =>
  void execFileSync(program, argv, { cwd: folder, stdio: 'pipe', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
const made = (name: string): Buffer => readFileSync(join(folder, name));

/** Expects that an archive unpacks to the packed files, and returns the diagnostic codes. */
async function expectUnits(bytes: Uint8Array, place = 'units', executable = true): Promise<string[]> {
  const opened = await openArchive(bytes);
  const { folder: found, tree } = onlySkill(opened);
  expect(found).toBe(place);
  const files = [...tree].map(([path, file]) => [path, Buffer.from(file.bytes).toString()]);
  expect(Object.fromEntries(files)).toEqual(FILES);
  expect(tree.get('scripts/run')?.executable).toBe(executable);
  expect(tree.get('empty')?.executable).toBe(false);
  return opened.diagnostics.map(({ code }) => code);
}

describe('archives of', () => {
  it('zip are accepted, also with a comment, and streamed', async (context) => {
    requireHere(context, missingCommand('zip'));
    run('zip', '-qr', 'plain.zip', 'units');
    expect(await expectUnits(made('plain.zip'))).toEqual([]);
    run('sh', '-c', 'zip -qrz commented.zip units < units/SKILL.md');
    await expectUnits(made('commented.zip'));
    run('sh', '-c', 'zip -qr - units > streamed.zip');
    await expectUnits(made('streamed.zip'));
    run('sh', '-c', 'cd units && zip -qr ../root.zip .');
    await expectUnits(made('root.zip'), '.');
    run('sh', '-c', 'zip -q0r stored.zip units');
    await expectUnits(made('stored.zip'));
  });

  it('Python are accepted, from all forms of zipfile and from tarfile', async (context) => {
    requireHere(context, MISSING_PYTHON);
    writeFileSync(
      join(folder, 'pack.py'),
      [
        'import os, shutil, sys, tarfile, zipfile',
        'names = sorted(os.path.join(d, f) for d, _, fs in os.walk("units") for f in fs)',
        'with zipfile.ZipFile("python.zip", "w", zipfile.ZIP_DEFLATED) as z:',
        '  z.comment = b"a comment"',
        '  for n in names: z.write(n)',
        'with zipfile.ZipFile("zip64.zip", "w", zipfile.ZIP_DEFLATED) as z:',
        '  for n in names:',
        '    i = zipfile.ZipInfo.from_file(n)',
        '    with z.open(i, "w", force_zip64=True) as o: o.write(open(n, "rb").read())',
        'class Pipe:',
        '  def __init__(s, f): s.f = f',
        '  def write(s, b): return s.f.write(b)',
        '  def flush(s): s.f.flush()',
        'with open("unseekable.zip", "wb") as f, zipfile.ZipFile(Pipe(f), "w", zipfile.ZIP_DEFLATED) as z:',
        '  for n in names: z.write(n)',
        'shutil.make_archive("made", "zip", ".", "units")',
        'for form in ("GNU", "PAX"):',
        '  with tarfile.open(form + ".tar.gz", "w:gz", format=getattr(tarfile, form + "_FORMAT")) as t: t.add("units")',
      ].join('\n'),
    );
    run('/usr/bin/python3', 'pack.py');
    for (const name of ['python.zip', 'zip64.zip', 'unseekable.zip', 'made.zip', 'GNU.tar.gz', 'PAX.tar.gz'])
      await expectUnits(made(name));
  });

  it('git are accepted, as ZIP and as TAR, with its commit at the start', async (context) => {
    requireHere(context, missingCommand('git'));
    const git = (...argv: string[]): void =>
      run('git', '-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main', '-C', 'units', ...argv);
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'all');
    git('archive', '--prefix=units/', '-o', '../git.zip', 'HEAD');
    git('archive', '--prefix=units/', '-o', '../git.tar.gz', 'HEAD');
    git('archive', '-o', '../root.tgz', 'HEAD');
    await expectUnits(made('git.zip'));
    await expectUnits(made('git.tar.gz'));
    await expectUnits(made('root.tgz'), '.');
    removeTree(join(folder, 'units/.git'));
  });

  it('tar are accepted, in each of its forms, also with ./ before names', async (context) => {
    requireHere(context, missingCommand('tar'));
    for (const form of ['gnu', 'posix']) {
      run('tar', '-czf', `${form}.tgz`, `--format=${form}`, 'units');
      await expectUnits(made(`${form}.tgz`));
      run('tar', '-czf', `${form}-dot.tgz`, `--format=${form}`, '-C', 'units', '.');
      await expectUnits(made(`${form}-dot.tgz`), '.');
    }
  });

  it('yazl are accepted, streamed with descriptors after the data', async () => {
    const archive = new ZipFile();
    for (const [path, content] of Object.entries(FILES))
      archive.addReadStream(Readable.from([Buffer.from(content)]), `units/${path}`, {
        mode: path === 'scripts/run' ? 0o100_755 : 0o100_644,
      });
    archive.addEmptyDirectory('units/none');
    archive.end({ forceZip64Format: true, comment: 'a comment' });
    await expectUnits(await buffer(archive.outputStream));
  });

  it('other systems are accepted, without the files that those systems leave behind', async () => {
    const entries = Object.entries(FILES).map(([path, content]) => ({
      name: `units/${path}`,
      content,
      method: 8,
      mode: path === 'scripts/run' ? 0o100_755 : 0o100_644,
    }));
    const mac = [
      { name: '__MACOSX/', mode: 0o040_755 },
      { name: '__MACOSX/units/._SKILL.md', content: 'x' },
    ];
    expect(await expectUnits(rawZip([...entries, ...mac, { name: 'units/.DS_Store', content: 'x' }]))).toEqual([
      'archive.left-out',
    ]);
    // UTF-8 names without the UTF-8 flag, and entries of systems without permissions.
    await expectUnits(rawZip(entries.map((entry) => ({ ...entry, flags: 0 }))));
    await expectUnits(rawZip(entries.map((entry) => ({ ...entry, madeOn: 0, mode: 0 }))), 'units', false);
  });

  it('other TAR programs are accepted, with harmless attributes', async () => {
    const entries = Object.entries(FILES).map(([path, content]) => ({
      name: `units/${path}`,
      content,
      mode: path === 'scripts/run' ? 0o755 : 0o644,
    }));
    const harmless = [
      ['mtime', '1.5'],
      ['SCHILY.xattr.user.a', 'b=\nc'],
      ['LIBARCHIVE.creationtime', '1'],
    ] as const;
    const flat = entries.flatMap((entry) => {
      const { length } = Buffer.from(entry.content);
      const long = Buffer.byteLength(entry.name) > 100;
      const path = attributes([
        ...harmless,
        ['size', String(length)],
        ...(long ? [['path', entry.name] as const] : []),
      ]);
      return [path, long ? { ...entry, name: 'short' } : entry];
    });
    await expectUnits(rawTarGz([attributes([['comment', 'a commit']], 'g'), ...flat]));
    const gnu = entries.flatMap((entry) => [longName(entry.name), { ...entry, name: 'short', magic: 'ustar  \0' }]);
    await expectUnits(rawTarGz(gnu, { end: Buffer.alloc(10_240) }));
  });

  it('gzip are accepted with a name, a comment and more in the header', async () => {
    const plain = rawTarGz([{ name: 'SKILL.md', content: 'x' }]);
    const header = Buffer.from([0x1f, 0x8b, 8, 0x1f, 0, 0, 0, 0, 0, 3]);
    const more = Buffer.concat([Buffer.from([2, 0, 1, 2]), Buffer.from('name\0comment\0'), Buffer.from([0, 0])]);
    const { skills } = await openArchive(Buffer.concat([header, more, plain.subarray(10)]));
    expect(skills.map(({ folder: place }) => place)).toEqual(['.']);
    expect(gzipSync('')[3]).toBe(0);
  });
});
