import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFolder } from '../../src/scan/read/read-folder.ts';
import { asUser, requireOrdinaryUser } from '../fixtures/ordinary-cli.ts';
import { scanSources } from '../../src/scan/scan-sources.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'scan-read-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function save(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

const read = (): { folder: string; isSkill: boolean; paths: string[]; unread: string[] }[] =>
  [...readFolder(root)].map(({ folder, isSkill, tree, unread }) => ({
    folder,
    isSkill,
    paths: [...tree.keys()],
    unread: unread.map(({ path, bytes, reason }) => `${path} ${bytes} ${reason}`),
  }));

describe('readFolder()', () => {
  it('yields one skill after the other in path order, and other files folder by folder', () => {
    save('b/SKILL.md', 'b');
    save('b/x/y.txt', 'y');
    save('b/x/SKILL.md', 'nested');
    save('a/c/skill.md', 'c');
    save('a/note.txt', 'n');
    save('top.txt', 't');
    expect(read()).toEqual([
      { folder: '.', isSkill: false, paths: ['top.txt'], unread: [] },
      { folder: 'a', isSkill: false, paths: ['note.txt'], unread: [] },
      { folder: 'a/c', isSkill: true, paths: ['skill.md'], unread: [] },
      { folder: 'b', isSkill: true, paths: ['SKILL.md', 'x/SKILL.md', 'x/y.txt'], unread: [] },
    ]);
  });

  it('lists an unreadable folder by its own path', (context) => {
    requireOrdinaryUser(context);
    const shut = ['a/shut', 'a/node_modules/deep', 'top'];
    save('a/SKILL.md', 's');
    for (const path of shut) save(`${path}/file`, 'x');
    chmodSync(root, 0o755);
    for (const path of shut) chmodSync(join(root, path), 0);
    // Root can read everything.
    const program = `import(process.argv[1]).then(({ readFolder }) => console.log(JSON.stringify(
      [...readFolder(process.argv[2])].map(({ folder, unread }) => [folder, ...unread.map(({ path, reason }) => path + ': ' + reason)]))))`;
    const reader = new URL('../../src/scan/read/read-folder.ts', import.meta.url).href;
    const { stdout } = spawnSync(process.execPath, [...asUser, '-e', program, reader, root], { encoding: 'utf8' });
    for (const path of shut) chmodSync(join(root, path), 0o755);
    const reason = 'a folder that cannot be read (EACCES)';
    expect(JSON.parse(stdout)).toEqual([
      ['a', `node_modules/deep: ${reason}`, 'node_modules: a folder that no skill is loaded from', `shut: ${reason}`],
      ['top', `.: ${reason}`],
    ]);
  });

  it('lists links and never follows one', () => {
    save('SKILL.md', 's');
    symlinkSync('/etc/passwd', join(root, 'file'));
    symlinkSync(root, join(root, 'folder'));
    expect(read()).toMatchObject([{ paths: ['SKILL.md'], unread: ['file 0 a link', 'folder 0 a link'] }]);
    const [scan] = scanSources(readFolder(root));
    expect(scan?.findings).toMatchObject([
      { code: 'scan.link', path: 'file' },
      { code: 'scan.link', path: 'folder' },
    ]);
  });

  it('lists files that are too large, alone or together, with their bytes', () => {
    save('SKILL.md', 's');
    save('a.txt', 'x'.repeat(50));
    save('b.txt', 'x'.repeat(20));
    save('c.txt', 'x'.repeat(20));
    const [source] = readFolder(root, { fileBytes: 30, sourceBytes: 30 });
    expect([...(source?.tree.keys() ?? [])]).toEqual(['SKILL.md', 'b.txt']);
    expect(source?.unread).toEqual([
      { path: 'a.txt', bytes: 50, reason: 'over 30 bytes' },
      { path: 'c.txt', bytes: 20, reason: 'over the limit for one skill' },
    ]);
  });

  it('applies the same limits to files that git runs', () => {
    save('SKILL.md', 's');
    save('.git/hooks/a', 'x'.repeat(20));
    save('.git/hooks/b', 'x'.repeat(20));
    save('c.txt', 'x'.repeat(20));
    const [source] = readFolder(root, { fileBytes: 30, sourceBytes: 45 });
    expect([...(source?.tree.keys() ?? [])]).toEqual(['.git/hooks/a', '.git/hooks/b', 'SKILL.md']);
    expect(source?.unread.map(({ path, bytes }) => [path, bytes])).toEqual([
      ['.git', 0],
      ['c.txt', 20],
    ]);
  });

  it('reads the files that git runs by itself, and lists the rest of .git and node_modules as unread', () => {
    save('SKILL.md', 's');
    save('.git/hooks/post-checkout', 'x');
    save('.git/objects/ab/cd', 'objects');
    save('node_modules/a/index.js', 'module');
    expect(read()).toMatchObject([
      {
        paths: ['.git/hooks/post-checkout', 'SKILL.md'],
        unread: [
          '.git 7 a folder that no skill is loaded from',
          'node_modules 6 a folder that no skill is loaded from',
        ],
      },
    ]);
  });
});
