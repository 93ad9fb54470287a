import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFolder } from '../../../src/durable/user-folders.ts';
import type { StoreState } from '../../../src/library/heads/look-at-store.ts';
import { chooseSources } from '../../../src/library/trust/choose-sources.ts';
import { lookAtProject } from '../../../src/library/trust/look-at-project.ts';
import { projectDigest } from '../../../src/library/trust/project-digest.ts';
import { projectFolders, sourceFolders } from '../../../src/library/trust/source-folders.ts';
import { changeTrust, readTrust, trustFile } from '../../../src/library/trust/trust-file.ts';
import { digestOf } from '../../../src/skills/text/digest.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';

const run = promisify(execFile);
const DIGEST = digestOf('skills');

let home: string;
let path: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'trust-file-')));
  path = join(home, 'config', 'trust.json');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const holds = (value: unknown, mode = 0o600): void => {
  mkdirSync(join(home, 'config'), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
  chmodSync(path, mode);
};

describe('readTrust()', () => {
  it.each([0o604, 0o640, 0o602, 0o620, 0o610])('ignores a file that other users may read or write: %o', (mode) => {
    holds({ version: 1, projects: { '/a': { digest: DIGEST } } }, mode);
    expect(readTrust(path)).toMatchObject({ projects: new Map(), fault: expect.stringContaining('others may') });
    chmodSync(path, 0o600);
    expect(readTrust(path)).toEqual({ projects: new Map([['/a', { digest: DIGEST }]]) });
  });

  it.each([
    ['a project that is not an absolute path', { version: 1, projects: { a: { digest: DIGEST } } }],
    ['an invalid digest', { version: 1, projects: { '/a': { digest: 'sha256:abc' } } }],
    ['no digest', { version: 1, projects: { '/a': {} } }],
    ['an unknown field of a project', { version: 1, projects: { '/a': { digest: DIGEST, more: 1 } } }],
    ['an unknown field', { version: 1, projects: {}, more: 1 }],
    ['another version', { version: 2, projects: {} }],
    [
      'too many projects',
      {
        version: 1,
        projects: Object.fromEntries(Array.from({ length: 50_001 }, (_, at) => [`/${at}`, { digest: null }])),
      },
    ],
  ])('ignores a file with %s', (_, value) => {
    holds(value);
    const { projects, fault } = readTrust(path);
    expect([projects.size, fault]).toEqual([0, 'it does not say which projects are trusted']);
  });

  it('ignores a file over 4 MiB', () => {
    const text = JSON.stringify({ version: 1, projects: { '/a': { digest: DIGEST } } });
    holds({});
    writeFileSync(path, text.padEnd(4 * 1024 * 1024));
    expect(readTrust(path)).toEqual({ projects: new Map([['/a', { digest: DIGEST }]]) });
    writeFileSync(path, text.padEnd(4 * 1024 * 1024 + 1));
    expect(readTrust(path)).toEqual({ projects: new Map(), fault: 'it is over 4 MiB' });
  });

  it('does not wait for a writer of a pipe', () => {
    mkdirSync(join(home, 'config'));
    execFileSync('mkfifo', ['-m', '600', path]);
    const file = new URL('../../../src/library/trust/trust-file.ts', import.meta.url).href;
    // In a separate process: a blocking system call cannot be aborted otherwise.
    const program = `
      const { readTrust } = await import(${JSON.stringify(file)});
      process.stdout.write(String(readTrust(${JSON.stringify(path)}).fault));`;
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 120_000 });
    expect(said.toString()).toBe('it is no regular file');
  });
});

describe('changeTrust()', () => {
  it('keeps a private file in a private folder, and returns the earlier state', async () => {
    expect(await changeTrust(path, '/b', { digest: DIGEST })).toBe(false);
    expect(await changeTrust(path, '/a', { digest: null })).toBe(false);
    expect(await changeTrust(path, '/a', { digest: DIGEST })).toBe(true);
    expect([path, join(home, 'config')].map((each) => statSync(each).mode & 0o777)).toEqual([0o600, 0o700]);
    expect([...readTrust(path).projects.keys()]).toEqual(['/a', '/b']);
    expect(await changeTrust(path, '/b', null)).toBe(true);
    expect(await changeTrust(path, '/b', null)).toBe(false);
    expect([...readTrust(path).projects]).toEqual([['/a', { digest: DIGEST }]]);
  });

  it('never overwrites a file that it cannot trust', async () => {
    holds({ version: 1, projects: {} }, 0o644);
    const before = readFileSync(path, 'utf8');
    await expect(changeTrust(path, '/a', { digest: DIGEST })).rejects.toMatchObject({ code: 'file.unreadable' });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('loses no project in concurrent changes by several processes', async () => {
    const file = new URL('../../../src/library/trust/trust-file.ts', import.meta.url).href;
    const names = Array.from({ length: 3 }, (_, child) => Array.from({ length: 15 }, (_two, at) => `/${child}/${at}`));
    const program = (own: string[]): string => `
      const { changeTrust } = await import(${JSON.stringify(file)});
      for (const name of ${JSON.stringify(own)}) await changeTrust(${JSON.stringify(path)}, name, { digest: null });`;
    await Promise.all(
      names.map(async (own) => await run(process.execPath, ['--input-type=module', '-e', program(own)])),
    );
    expect([...readTrust(path).projects.keys()].toSorted()).toEqual(names.flat().toSorted());
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('chooseSources()', () => {
  const skill = (folder: string): void => {
    mkdirSync(join(home, folder, 'units'), { recursive: true });
    writeFileSync(join(home, folder, 'units/SKILL.md'), '---\nname: units\ndescription: Units.\n---\nText.\n');
  };

  it('opens no folder of an untrusted project, and none that is a link, by any path', async () => {
    skill('p/.claude/skills');
    skill('elsewhere');
    mkdirSync(join(home, 'p/.agents'));
    symlinkSync(join(home, 'elsewhere'), join(home, 'p/.agents/skills'));
    symlinkSync(join(home, 'p'), join(home, 'link'));
    const env = { HOME: join(home, 'empty'), XDG_CONFIG_HOME: join(home, 'config') };
    const cache = openTreeCache(join(home, 'cache'));
    const opened = (cwd: string): string[] =>
      chooseSources({ names: new Set(['project']), env, cwd: join(home, cwd), cache }).stores.map(({ id }) => id);
    expect(opened('p')).toEqual([]);
    let closed = 0;
    const look = await lookAtProject(join(home, 'p'), { ...cache, close: () => (closed += 1) });
    expect([look.skills.map(({ path: of }) => of), closed]).toEqual([['.claude/skills/units'], 1]);
    await changeTrust(trustFile(configFolder(env)), join(home, 'p'), { digest: look.digest });
    expect(opened('p')).toEqual([`directory:${join(home, 'p/.claude/skills')}`]);
    expect(opened('link')).toEqual(opened('p'));
    cache.close();
  });
});

describe('projectDigest()', () => {
  const state = (...rows: [source: string, path: string, digest?: string][]): StoreState =>
    ({
      records: rows.map(([source, place, digest]) => ({ item: { path: place, origin: { source } }, digest })),
    }) as unknown as StoreState;
  const units = state(['/p/.claude/skills', 'units', DIGEST]);
  const notes = state(['/p/.agents/skills', 'notes', DIGEST]);

  it('depends on skills and their places, but not on their order', () => {
    expect(projectDigest('/p', [units, notes])).toBe(projectDigest('/p', [notes, units]));
    expect(projectDigest('/q', [state(['/q/.claude/skills', 'units', DIGEST])])).toBe(projectDigest('/p', [units]));
  });

  it.each([
    ['another byte', state(['/p/.claude/skills', 'units', digestOf('other')])],
    ['another name', state(['/p/.claude/skills', 'unit', DIGEST])],
    ['another folder', state(['/p/.agents/skills', 'units', DIGEST])],
    ['one more', state(['/p/.claude/skills', 'units', DIGEST], ['/p/.claude/skills', 'more', DIGEST])],
    ['none', state()],
  ])('changes with %s', (_, other) => expect(projectDigest('/p', [other])).not.toBe(projectDigest('/p', [units])));
});

describe('sourceFolders()', () => {
  it('marks a folder that links out of a project, but not out of a home', () => {
    for (const name of ['p/.agents', 'h/.agents', 'elsewhere']) mkdirSync(join(home, name), { recursive: true });
    for (const name of ['p', 'h']) symlinkSync(join(home, 'elsewhere'), join(home, name, '.agents/skills'));
    mkdirSync(join(home, 'p/.claude'));
    writeFileSync(join(home, 'p/.claude/skills'), 'no folder');
    const rows = sourceFolders(new Set(['user', 'project']), join(home, 'h'), join(home, 'p'));
    expect(rows.flatMap(({ source, real, isOutside }) => (real === undefined ? [] : [[source, isOutside]]))).toEqual([
      ['user', false],
      ['project', true],
    ]);
    expect(projectFolders(join(home, 'p'))).toHaveLength(3);
  });

  it('does not treat a home as a project, also through a link', () => {
    mkdirSync(join(home, 'h'));
    symlinkSync(join(home, 'h'), join(home, 'link'));
    for (const name of ['h', 'link'])
      expect(
        sourceFolders(new Set(['user', 'project']), join(home, name), join(home, 'h')).map(({ source }) => source),
      ).toEqual(['user', 'user', 'user']);
  });
});
