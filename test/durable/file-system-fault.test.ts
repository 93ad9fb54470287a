import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atPlace, fileSystemFault } from '../../src/durable/file-system-fault.ts';
import { makeFolders } from '../../src/durable/make-folders.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-system-fault-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it went well');
}

const said = (error: unknown): string | undefined => {
  const fault = fileSystemFault(error);
  return fault && `${fault.code} ${fault.entry.exitCode}: ${fault.message}`;
};

describe('fileSystemFault()', () => {
  it('reports a full disk with its path', () => {
    const full = openSync('/dev/full', 'w');
    const error = errorOf(() => writeSync(full, 'x'));
    closeSync(full);
    expect(said(error)).toBe('disk.full 3: Cannot write: no space left (ENOSPC), got no path.');
    expect(said(atPlace(error, '/a/b'))).toBe('disk.full 3: Cannot write: no space left (ENOSPC), got "/a/b".');
    const database = new DatabaseSync(':memory:');
    database.exec('PRAGMA max_page_count=2; CREATE TABLE t (x)');
    const ofDatabase = errorOf(() => database.prepare('INSERT INTO t VALUES (zeroblob(100000))').run());
    database.close();
    expect(said(ofDatabase)).toBe('disk.full 3: Cannot write: no space left (ERR_SQLITE_ERROR), got no path.');
  });

  it('reports an unusable path without temporary names', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const below = errorOf(() => mkdirSync(join(file, '.1-2-3.part', 'x')));
    expect(said(below)).toBe(
      `path.unusable 2: Cannot use a path: its parent is not a folder (ENOTDIR, mkdir), got "${file}".`,
    );
    expect(said(errorOf(() => makeFolders(file)))).toContain('another entry exists there (EEXIST, mkdir)');
    expect(said(errorOf(() => readFileSync(folder)))).toBeUndefined();
    expect(
      said(
        atPlace(
          errorOf(() => readFileSync(folder)),
          folder,
        ),
      ),
    ).toContain('it is a folder (EISDIR, read)');
  });

  it('returns undefined for all other errors', () => {
    for (const error of [
      new TypeError('x'),
      'x',
      errorOf(() => readFileSync(join(folder, 'none'))),
      spawnSync(join(folder, 'none')).error,
      spawnSync(folder).error,
    ]) {
      expect(error).toBeDefined();
      expect(said(error)).toBeUndefined();
    }
  });
});

describe('makeFolders()', () => {
  it('creates missing folders and accepts existing ones', () => {
    const deep = join(folder, 'a', 'b', 'c');
    makeFolders(deep, 0o700);
    makeFolders(deep, 0o700);
    writeFileSync(join(deep, 'x'), '');
    expect(readFileSync(join(deep, 'x'), 'utf8')).toBe('');
  });

  it('ends if the system answers each mkdir with ENOENT', () => {
    expect(errorOf(() => makeFolders('/proc/x/y'))).toMatchObject({ code: 'ENOENT', path: '/proc/x' });
  });
});
