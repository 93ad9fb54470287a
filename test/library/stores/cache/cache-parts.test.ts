import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentOwner, ownerName } from '../../../../src/durable/owner.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { TEXT_FILE_LIMIT } from '../../../../src/skills/text/decode-text.ts';
import { readChecked, writeChecked } from '../../../../src/library/stores/cache/checked-file.ts';
import { awaitUnclaimed, claimTree, removeDeadClaims } from '../../../../src/library/stores/cache/claims.ts';
import { headOfView } from '../../../../src/library/stores/cache/head-of-view.ts';
import { heldTrees, openLeases } from '../../../../src/library/stores/cache/leases.ts';
import { type CacheEntry, evictOldest, makeRoom } from '../../../../src/library/stores/cache/make-room.ts';
import { oweRoom, payRoom } from '../../../../src/library/stores/cache/owed-room.ts';
import { privateFolder } from '../../../../src/library/stores/cache/private-folder.ts';

const TREE = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);
/** An owner of this boot and namespace that is dead. */
const DEAD = ownerName({ ...currentOwner(), startTime: '1' });

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'cache-parts-')));
});
afterEach(() => removeTree(home));

const at = (...names: string[]): string => join(home, ...names);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('privateFolder()', () => {
  it('makes its folder and all parents for this user only, and resolves links', () => {
    expect(privateFolder(at('above', 'cache'))).toBe(at('above', 'cache'));
    expect([modeOf(at('above')), modeOf(at('above', 'cache'))]).toEqual([0o700, 0o700]);
    symlinkSync(at('above', 'cache'), at('link'));
    expect(privateFolder(at('link'))).toBe(at('above', 'cache'));
  });

  it.each([0o702, 0o720, 0o777])('refuses a folder that other users may write: %o', (mode) => {
    mkdirSync(at('cache'));
    chmodSync(at('cache'), mode);
    expect(() => privateFolder(at('cache'))).toThrow(/others may write it/);
  });

  it.each([0o704, 0o740, 0o710])('closes a folder that other users may read: %o', (mode) => {
    mkdirSync(at('cache'));
    chmodSync(at('cache'), mode);
    privateFolder(at('cache'));
    expect(modeOf(at('cache'))).toBe(0o700);
  });
});

describe('writeChecked() and readChecked()', () => {
  it('return the written content, for this user only, and remove a damaged file', () => {
    writeChecked(home, TREE, Buffer.from('content'));
    expect(modeOf(at(TREE))).toBe(0o600);
    expect(readChecked(home, TREE)?.toString()).toBe('content');
    for (const damaged of [`${readFileSync(at(TREE), 'latin1')} `, 'sha256:', '']) {
      writeFileSync(at(TREE), damaged);
      expect(readChecked(home, TREE)).toBeUndefined();
      expect(existsSync(at(TREE))).toBe(false);
    }
  });

  it('renew the time of use only of an old file', () => {
    writeChecked(home, TREE, Buffer.from('content'));
    const usedAt = (ageSeconds: number, touch?: boolean): number => {
      const then = Date.now() / 1000 - ageSeconds;
      utimesSync(at(TREE), then, then);
      readChecked(home, TREE, touch);
      return Math.round(Date.now() / 1000 - statSync(at(TREE)).mtimeMs / 1000);
    };
    expect(usedAt(100_000)).toBeLessThan(1_000);
    expect(usedAt(100_000, false)).toBeGreaterThan(99_000);
    expect(usedAt(1_800)).toBeGreaterThan(1_700);
  });

  it('leave no file after a failed write', () => {
    mkdirSync(at(TREE, 'more'), { recursive: true });
    expect(() => writeChecked(home, TREE, Buffer.from('content'))).toThrow(/E(?:ISDIR|NOTEMPTY|EXIST)/);
    expect(readdirSync(home)).toEqual([TREE]);
  });
});

describe('headOfView()', () => {
  it('drops a text over the limit', () => {
    const head = (bytes: number): number | undefined => {
      writeFileSync(at('SKILL.md'), 'x'.repeat(bytes));
      const files = [{ path: 'SKILL.md', digest: '', bytes, executable: false }];
      const item = { path: 'a', revision: 'b', origin: { type: 'web', source: '', folder: '' }, kind: 'user' } as const;
      return headOfView(item, { digest: '', folder: home, files })?.skillFile.bytes.length;
    };
    expect([head(TEXT_FILE_LIMIT), head(TEXT_FILE_LIMIT + 1)]).toEqual([TEXT_FILE_LIMIT, 0]);
  });
});

describe('openLeases()', () => {
  it('holds a tree until every holder has released it, even if one releases twice', () => {
    const leases = openLeases(at('leases'));
    const [first, second] = [leases.hold(TREE), leases.hold(TREE)];
    const other = leases.hold(OTHER);
    first();
    first();
    expect([...heldTrees(at('leases'))].toSorted()).toEqual([TREE, OTHER]);
    second();
    expect([...heldTrees(at('leases'))]).toEqual([OTHER]);
    other();
    expect(readdirSync(at('leases'))).toEqual([]);
  });

  it('releases everything on close, but not later leases', () => {
    const leases = openLeases(at('leases'));
    const late = leases.hold(TREE);
    leases.close();
    expect(readdirSync(at('leases'))).toEqual([]);
    const release = leases.hold(TREE);
    late();
    expect([...heldTrees(at('leases'))]).toEqual([TREE]);
    release();
    expect([...heldTrees(at('leases'))]).toEqual([]);
  });

  it('ignores and removes leases of dead processes, and respects unknown owners', () => {
    for (const [owner, tree] of [
      [`${DEAD}-0011`, TREE],
      ['unknown', OTHER],
    ] as const) {
      mkdirSync(at('leases', owner), { recursive: true });
      writeFileSync(at('leases', owner, tree), '');
    }
    expect([...heldTrees(at('leases'))]).toEqual([OTHER]);
    expect(readdirSync(at('leases'))).toEqual(['unknown']);
  });
});

describe('claimTree()', () => {
  it('makes readers wait until the claim is taken back', async () => {
    const claims = new URL('../../../../src/library/stores/cache/claims.ts', import.meta.url).href;
    const program = `
      import { existsSync, writeFileSync } from 'node:fs';
      import { claimTree } from ${JSON.stringify(claims)};
      const unclaim = claimTree(${JSON.stringify(at('claims'))}, ${JSON.stringify(TREE)});
      process.stdout.write('ready');
      while (!existsSync(${JSON.stringify(at('waiting'))})) await new Promise((resolve) => setTimeout(resolve, 2));
      await new Promise((resolve) => setTimeout(resolve, 50));
      writeFileSync(${JSON.stringify(at('done'))}, '');
      unclaim();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      // Claims on other trees and claims of dead processes are not waited for.
      writeFileSync(at('claims', `${DEAD}.${OTHER}`), '');
      awaitUnclaimed(at('claims'), OTHER);
      expect(readdirSync(at('claims'))).toHaveLength(1);
      expect(existsSync(at('done'))).toBe(false);
      writeFileSync(at('waiting'), '');
      awaitUnclaimed(at('claims'), TREE);
      expect(existsSync(at('done'))).toBe(true);
      expect(await exit).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
    expect(readdirSync(at('claims'))).toEqual([]);
  });

  it('loses claims of dead processes, and keeps claims of living ones', () => {
    const unclaim = claimTree(at('claims'), TREE);
    writeFileSync(at('claims', `${DEAD}.${OTHER}`), '');
    removeDeadClaims(at('claims'));
    expect(readdirSync(at('claims'))).toEqual([`${ownerName(currentOwner())}.${TREE}`]);
    unclaim();
    expect(readdirSync(at('claims'))).toEqual([]);
  });
});

describe('evictOldest()', () => {
  const entry = (name: string, bytes: number, usedAt: number, tree?: string): CacheEntry => {
    const path = at(name);
    if (tree === undefined) writeFileSync(path, '');
    else mkdirSync(path);
    return { path, bytes, usedAt, ...(tree === undefined ? {} : { tree }) };
  };
  const folders = (): { leases: string; claims: string } => ({ leases: at('leases'), claims: at('claims') });

  it('evicts nothing at the limit; over it, the oldest entries until a tenth is free', () => {
    const entries = [entry('c', 30, 3), entry('a', 10, 1), entry('d', 40, 4), entry('b', 20, 2, OTHER)];
    expect(evictOldest(entries, folders(), 100)).toBe(100);
    expect(readdirSync(home)).toEqual(['a', 'b', 'c', 'd']);
    expect(evictOldest(entries, folders(), 99)).toBe(70);
    expect(readdirSync(home)).toEqual(['c', 'claims', 'd']);
    expect(readdirSync(at('claims'))).toEqual([]);
    expect(evictOldest(entries.slice(0, 1), folders(), 100, 80)).toBe(80);
    expect(existsSync(at('c'))).toBe(false);
  });

  it('keeps leased trees, even with a lease at the last moment', () => {
    const leases = openLeases(at('leases'));
    const held = entry('held', 50, 1, TREE);
    const taken = entry('taken', 50, 2, OTHER);
    const path = taken.path;
    leases.hold(TREE);
    Object.defineProperty(taken, 'path', {
      get() {
        leases.hold(OTHER);
        return path;
      },
    });
    expect(evictOldest([held, taken], folders(), 10)).toBe(100);
    expect([existsSync(held.path), existsSync(path)]).toEqual([true, true]);
    expect(readdirSync(at('claims'))).toEqual([]);
    leases.close();
  });

  it('counts trees, files and databases, and ignores names that are not digests', () => {
    for (const name of ['trees', 'index']) mkdirSync(at(name));
    mkdirSync(at('trees', TREE, 'deep'), { recursive: true });
    writeFileSync(at('trees', TREE, 'deep', 'a'), 'x'.repeat(1_000));
    mkdirSync(at('trees', '.part'));
    writeFileSync(at('trees', '.part', 'a'), 'x'.repeat(1_000));
    for (const name of [OTHER, '.part']) writeFileSync(at('index', name), 'x'.repeat(1_000));
    for (const [path, second] of [
      [at('trees', TREE), 1],
      [at('index', OTHER), 2],
    ] as const)
      utimesSync(path, second, second);
    for (const name of ['db', 'db-wal']) writeFileSync(at(name), 'x'.repeat(100));
    const all = {
      ...folders(),
      trees: at('trees'),
      owed: at('owed'),
      files: [at('index'), at('none')],
      databases: [at('db'), at('none')],
    };
    expect(makeRoom(all, 2_200)).toBe(2_200);
    expect(makeRoom(all, 2_100)).toBe(1_200);
    expect(readdirSync(at('trees'))).toEqual(['.part']);
    expect(makeRoom(all, 1_100)).toBe(200);
    expect(readdirSync(at('index'))).toEqual(['.part']);
    expect(makeRoom(all, 10)).toBe(200);
  });
});

describe('oweRoom()', () => {
  it('makes the next process pay once for dead ones, and never for living ones', () => {
    let paid = 0;
    const pay = (): void => payRoom(at('owed'), () => (paid += 1));
    pay();
    const settle = oweRoom(at('owed'));
    pay();
    expect(paid).toBe(0);
    for (const name of ['-00', '-11']) writeFileSync(at('owed', `${DEAD}${name}`), '');
    expect(() =>
      payRoom(at('owed'), () => {
        throw new Error('no room');
      }),
    ).toThrow('no room');
    pay();
    pay();
    expect(paid).toBe(1);
    expect(readdirSync(at('owed'))).toHaveLength(1);
    settle();
    expect(readdirSync(at('owed'))).toEqual([]);
  });
});
