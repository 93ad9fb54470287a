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
import { type CacheEntry, evictOldest } from '../../../../src/library/stores/cache/cache-entries.ts';
import { readChecked, writeChecked } from '../../../../src/library/stores/cache/checked-files.ts';
import { evictClaimed, removeDeadClaims, revokeClaims } from '../../../../src/library/stores/cache/claims.ts';
import { headOfView } from '../../../../src/library/stores/cache/head-of-view.ts';
import { isLeased, openLeases } from '../../../../src/library/stores/cache/leases.ts';
import { makeRoom } from '../../../../src/library/stores/cache/make-room.ts';
import { oweRoom, payRoom } from '../../../../src/library/stores/cache/owed-room.ts';
import { privateFolder } from '../../../../src/library/stores/cache/private-folder.ts';
import { openSharedEntries } from '../../../../src/library/stores/cache/shared-entries.ts';

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
    writeChecked(at(TREE), Buffer.from('content'));
    expect(modeOf(at(TREE))).toBe(0o600);
    expect(readChecked(at(TREE))?.toString()).toBe('content');
    for (const damaged of [`${readFileSync(at(TREE), 'latin1')} `, 'sha256:', '']) {
      writeFileSync(at(TREE), damaged);
      expect(readChecked(at(TREE))).toBeUndefined();
      expect(existsSync(at(TREE))).toBe(false);
    }
  });

  it('renew the time of use only of an old file', () => {
    writeChecked(at(TREE), Buffer.from('content'));
    const usedAt = (ageSeconds: number): number => {
      const then = Date.now() / 1000 - ageSeconds;
      utimesSync(at(TREE), then, then);
      readChecked(at(TREE));
      return Math.round(Date.now() / 1000 - statSync(at(TREE)).mtimeMs / 1000);
    };
    expect(usedAt(100_000)).toBeLessThan(1_000);
    expect(usedAt(1_800)).toBeGreaterThan(1_700);
  });

  it('leave no file after a failed write', () => {
    mkdirSync(at(TREE, 'more'), { recursive: true });
    expect(() => writeChecked(at(TREE), Buffer.from('content'))).toThrow(/E(?:ISDIR|NOTEMPTY|EXIST)/);
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
  const leased = (): string[] => [TREE, OTHER].filter((tree) => isLeased(at('leases'), tree));

  it('holds a tree until every holder has released it, even if one releases twice', () => {
    const leases = openLeases(at('leases'));
    const [first, second] = [leases.hold(TREE), leases.hold(TREE)];
    const other = leases.hold(OTHER);
    first();
    first();
    expect(leased()).toEqual([TREE, OTHER]);
    second();
    expect(leased()).toEqual([OTHER]);
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
    expect(leased()).toEqual([TREE]);
    release();
    expect(leased()).toEqual([]);
  });

  it('ignores and removes leases of dead processes, and respects unknown owners', () => {
    for (const [owner, tree] of [
      [`${DEAD}-0011`, TREE],
      ['unknown', OTHER],
    ] as const) {
      mkdirSync(at('leases', owner), { recursive: true });
      writeFileSync(at('leases', owner, tree), '');
    }
    expect(leased()).toEqual([OTHER]);
    expect(readdirSync(at('leases'))).toEqual(['unknown']);
  });
});

describe('evictClaimed()', () => {
  const claims = (): string[] => readdirSync(at('claims'));
  const entry = (): string => {
    mkdirSync(at('trees', TREE), { recursive: true });
    return at('trees', TREE);
  };

  it('removes an entry that is not needed, and leaves nothing else', () => {
    expect(evictClaimed(at('claims'), entry(), () => true)).toBe(false);
    expect(readdirSync(at('trees'))).toEqual([TREE]);
    expect(evictClaimed(at('claims'), entry(), () => false)).toBe(true);
    expect(evictClaimed(at('claims'), at('trees', OTHER), () => false)).toBe(false);
    expect([readdirSync(at('trees')), claims()]).toEqual([[], []]);
  });

  it('fails once a reader has revoked its claim, also where two readers do, but not for a reader of another entry', () => {
    const evict = (...revoked: string[]): boolean =>
      evictClaimed(at('claims'), entry(), () => {
        for (const tree of revoked) revokeClaims(at('claims'), at('trees', tree));
        return false;
      });
    expect([evict(TREE), evict(TREE, TREE), evict(OTHER)]).toEqual([false, false, true]);
    expect([readdirSync(at('trees')), claims()]).toEqual([[], []]);
  });

  it('is over for a reader that comes after its rename', () => {
    const [name, place] = [`${ownerName(currentOwner())}-0011`, entry()];
    mkdirSync(at('claims'));
    writeFileSync(at('claims', `${name}.${TREE}`), '');
    mkdirSync(at('trees', `.${name}.part`));
    revokeClaims(at('claims'), place);
    expect(statSync(at('trees', `.${name}.part`)).isDirectory()).toBe(true);
  });

  it('makes no reader wait for a process that stands still after its claim', async () => {
    const module = new URL('../../../../src/library/stores/cache/claims.ts', import.meta.url).href;
    const program = `
      import { existsSync, writeSync } from 'node:fs';
      import { evictClaimed } from ${JSON.stringify(module)};
      const evicted = evictClaimed(${JSON.stringify(at('claims'))}, ${JSON.stringify(entry())}, () => {
        writeSync(1, 'claimed ');
        while (!existsSync(${JSON.stringify(at('read'))})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
        return false;
      });
      process.stdout.write(String(evicted));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [exit, printed] = [once(child, 'exit'), [] as string[]];
    child.stdout.on('data', (piece: Buffer) => printed.push(piece.toString()));
    try {
      await once(child.stdout, 'data');
      revokeClaims(at('claims'), at('trees', TREE));
      expect(claims()).toHaveLength(1);
      writeFileSync(at('read'), '');
      expect([await exit, printed.join('')]).toEqual([[0, null], 'claimed false']);
    } finally {
      child.kill('SIGKILL');
    }
    expect([readdirSync(at('trees')), claims()]).toEqual([[TREE], []]);
  });

  it('leaves claims of dead processes, which readers and sweeps remove', () => {
    mkdirSync(at('claims'));
    const dead = [TREE, OTHER].map((tree) => `${DEAD}-0011.${tree}`);
    for (const name of dead) writeFileSync(at('claims', name), '');
    evictClaimed(at('claims'), entry(), () => {
      revokeClaims(at('claims'), at('trees', OTHER));
      expect(claims()).toHaveLength(2);
      removeDeadClaims(at('claims'));
      expect(claims()).toEqual([expect.stringMatching(ownerName(currentOwner()))]);
      return false;
    });
    expect([readdirSync(at('trees')), claims()]).toEqual([[], []]);
  });
});

describe('openSharedEntries()', () => {
  it('evicts no entry that is held, even if it is held at the last moment', () => {
    const [evicting, reading] = [openSharedEntries(home), openSharedEntries(home)];
    const place = at('trees', TREE);
    mkdirSync(place, { recursive: true });
    const release = reading.hold(place);
    expect(evicting.evict(place)).toBe(false);
    release();
    const last = evictClaimed(at('claims'), place, () => {
      const isHeld = isLeased(at('leases'), TREE);
      reading.hold(place);
      return isHeld;
    });
    expect([last, existsSync(place)]).toEqual([false, true]);
    reading.close();
    expect(evicting.evict(place)).toBe(true);
    expect([readdirSync(at('trees')), readdirSync(at('claims'))]).toEqual([[], []]);
  });

  it('holds nothing where a claim cannot be revoked', () => {
    mkdirSync(at('claims'));
    writeFileSync(at('claims', `${ownerName(currentOwner())}-0011.${TREE}`), '');
    // The folder of the entry is missing, so the claim has no place to be revoked at.
    expect(() => openSharedEntries(home).hold(at('none', TREE))).toThrow('ENOENT');
    expect(readdirSync(at('leases'))).toEqual([]);
  });

  it('discards a damaged entry that is held, but none that another process puts in its place', () => {
    const [first, second] = [openSharedEntries(home), openSharedEntries(home)];
    const place = at('trees', TREE);
    mkdirSync(place, { recursive: true });
    first.hold(place);
    second.hold(place);
    first.discard(place, () => true);
    expect(existsSync(place)).toBe(true);
    first.discard(place, () => {
      second.discard(place, () => false);
      expect(existsSync(place)).toBe(false);
      second.prepare(place);
      mkdirSync(place);
      return false;
    });
    expect(readdirSync(at('trees'))).toEqual([TREE]);
    second.discard(place, () => false);
    expect(readdirSync(at('trees'))).toEqual([]);
    for (const each of [first, second]) each.close();
    expect([readdirSync(at('claims')), readdirSync(at('leases'))]).toEqual([[], []]);
  });
});

describe('evictOldest()', () => {
  it('evicts nothing at the limit; over it, the oldest entries until a tenth is free', () => {
    let gone: string[] = [];
    const entry = (name: string, bytes: number, usedAt: number, isNeeded = false): CacheEntry => ({
      bytes,
      usedAt,
      evict: () => {
        if (!isNeeded) gone.push(name);
        return !isNeeded;
      },
    });
    const left = (entries: CacheEntry[], ...[limits]: [Parameters<typeof evictOldest>[1]]): [number, string] => {
      gone = [];
      return [evictOldest(entries, limits), gone.join('')];
    };
    const entries = [entry('c', 30, 3), entry('a', 10, 1), entry('d', 40, 4), entry('b', 20, 2)];
    expect(left(entries, { maxBytes: 100 })).toEqual([100, '']);
    expect(left(entries, { maxBytes: 99 })).toEqual([70, 'ab']);
    expect(left(entries.slice(0, 1), { maxBytes: 100, shared: 80 })).toEqual([80, 'c']);
    expect(left(entries, { maxBytes: 100, maxEntries: 4 })).toEqual([100, '']);
    expect(left(entries, { maxBytes: 1_000, maxEntries: 3 })).toEqual([90, 'a']);
    expect(left([entry('held', 50, 1, true), ...entries], { maxBytes: 140 })).toEqual([120, 'ab']);
    expect(left([entry('held', 50, 1, true)], { maxBytes: 10, maxEntries: 0 })).toEqual([50, '']);
  });
});

describe('makeRoom()', () => {
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
      trees: at('trees'),
      owed: at('owed'),
      files: [at('index'), at('none')],
      databases: [at('db'), at('none')],
    };
    const shared = openSharedEntries(home);
    const room = (maxBytes: number): number => makeRoom(all, shared, { maxBytes });
    expect(room(2_200)).toBe(2_200);
    const release = shared.hold(at('trees', TREE));
    expect(room(2_100)).toBe(1_200);
    expect([readdirSync(at('trees')), readdirSync(at('index'))]).toEqual([['.part', TREE], ['.part']]);
    release();
    writeFileSync(at('index', OTHER), 'x'.repeat(1_000));
    expect(room(2_100)).toBe(1_200);
    expect(readdirSync(at('trees'))).toEqual(['.part']);
    expect(room(1_100)).toBe(200);
    expect(readdirSync(at('index'))).toEqual(['.part']);
    expect(room(10)).toBe(200);
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
