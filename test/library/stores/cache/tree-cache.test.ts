import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { defaultCacheFolder } from '../../../../src/durable/user-folders.ts';
import { SKILL_BYTES } from '../../../../src/skills/load/read-manifest.ts';
import { startQuietClock } from '../../../fixtures/quiet-clock.ts';
import { openTreeCache, type TreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';

let home: string;
let folder: string;
let caches: TreeCache[];
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tree-cache-')));
  folder = join(home, 'cache');
  caches = [];
});
afterEach(() => {
  for (const cache of caches) cache.close();
  removeTree(home);
});

function open(maxBytes?: number): TreeCache {
  const cache = openTreeCache(folder, maxBytes === undefined ? {} : { maxBytes });
  caches.push(cache);
  return cache;
}

const tree = (text: string): SkillTree =>
  new Map([
    ['SKILL.md', { bytes: Buffer.from(text), executable: false }],
    ['scripts/run.sh', { bytes: Buffer.from('#!/bin/sh\n'), executable: true }],
  ]);

const trees = (): string[] => readdirSync(join(folder, 'trees'));

/** A separate process with the cache open as `cache`; it runs the code. */
function inProcess(code: string): ReturnType<typeof spawn> {
  const cacheModule = new URL('../../../../src/library/stores/cache/tree-cache.ts', import.meta.url).href;
  const program = `
    import { openTreeCache } from ${JSON.stringify(cacheModule)};
    const tree = (text) => new Map([['SKILL.md', { bytes: Buffer.from(text), executable: false }]]);
    const cache = openTreeCache(${JSON.stringify(folder)}, { maxBytes: 3_000 });
    ${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
}

describe('openTreeCache()', () => {
  it('keeps a skill by its digest, read-only, and finds it again', () => {
    const view = open().keep(tree('one'));
    expect(view.folder).toBe(join(folder, 'trees', view.digest.slice(7)));
    expect(open().find(view.digest)).toEqual(view);
    expect(statSync(view.folder).mode & 0o777).toBe(0o555);
    expect(statSync(join(view.folder, 'scripts', 'run.sh')).mode & 0o777).toBe(0o555);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(open().find(`sha256:${'0'.repeat(64)}`)).toBeUndefined();
  });

  it('finds no skill with a changed byte, mode or name', () => {
    for (const damage of [
      (place: string) => writeFileSync(join(place, 'SKILL.md'), 'two'),
      (place: string) => chmodSync(join(place, 'scripts', 'run.sh'), 0o444),
      (place: string) => writeFileSync(join(place, 'more.md'), ''),
      (place: string) => rmSync(join(place, 'SKILL.md')),
    ]) {
      const { digest, folder: place } = open().keep(tree('one'));
      for (const path of [place, join(place, 'scripts')]) chmodSync(path, 0o755);
      chmodSync(join(place, 'SKILL.md'), 0o644);
      damage(place);
      expect(open().find(digest)).toBeUndefined();
      expect(trees()).toEqual([]);
      expect(readFileSync(join(open().keep(tree('one')).folder, 'SKILL.md'), 'utf8')).toBe('one');
    }
  });

  it('refuses a folder that other users may write', () => {
    mkdirSync(folder);
    chmodSync(folder, 0o770);
    expect(() => open().keep(tree('one'))).toThrow(/others may write it/);
    expect(readdirSync(folder)).toEqual([]);
    chmodSync(folder, 0o755);
    open().keep(tree('one'));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('refuses a folder of another user', (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can make one');
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, 12_345, 12_345);
    expect(() => open().keep(tree('one'))).toThrow(/belongs to another user/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leases nothing after a failure, and reports an unusable place', () => {
    const cache = open();
    expect(cache.find(`sha256:${'0'.repeat(64)}`)).toBeUndefined();
    const leases = (): string[] => readdirSync(join(folder, 'leases'));
    expect(leases()).toEqual([]);
    expect(() => cache.keep(new Map([['a\0b', { bytes: Buffer.from(''), executable: false }]]))).toThrow();
    expect(leases()).toEqual([]);
    for (const digest of ['sha256:../../../etc', `sha256:${'/'.repeat(64)}`, '0'.repeat(64), ''])
      expect(() => cache.find(digest)).toThrow(/no digest of a skill/);
    writeFileSync(join(home, 'file'), '');
    const misplaced = openTreeCache(join(home, 'file', 'cache'));
    expect(() => misplaced.keep(tree('one'))).toThrow(expect.objectContaining({ code: 'path.unusable' }) as Error);
  });

  it('lists the files of a skill by code points, and owes no room afterwards', () => {
    const cache = open();
    const { files } = cache.keep(new Map([...tree('one')].toReversed()));
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh']);
    cache.added(2 ** 30);
    expect(readdirSync(join(folder, 'owed'))).toEqual([]);
  });

  it('continues in a folder that was emptied meanwhile', () => {
    const cache = open();
    cache.keep(tree('one'));
    removeTree(folder);
    const { digest } = cache.keep(tree('two'));
    expect(cache.find(digest)?.digest).toBe(digest);
    expect(readdirSync(join(folder, 'leases'))).toHaveLength(1);
  });

  it('makes room again after a sixteenth of its limit was added, in any number of parts', () => {
    const cache = open(16_000);
    cache.keep(tree('one'));
    const other = open(100_000);
    for (const letter of 'abcdefghijklmnopqr') other.keep(tree(letter.repeat(1_000)));
    other.close();
    cache.added(600);
    expect(trees()).toHaveLength(19);
    cache.added(600);
    expect(trees().length).toBeLessThan(19);
  });

  it('evicts the least recently used skills until there is room', () => {
    const written = ['a', 'b', 'c', 'd'].map((letter) => {
      const cache = open(10_000);
      const view = cache.keep(tree(letter.repeat(2_000)));
      cache.close();
      return view;
    });
    for (const [age, { folder: place }] of written.entries()) utimesSync(place, age + 1, age + 1);
    // Used now, and so the last to be evicted.
    const reader = open(10_000);
    reader.find(written[0]?.digest ?? '');
    reader.close();
    open(6_500).keep(tree('e'.repeat(2_000)));
    expect(written.map(({ folder: place }) => existsSync(place))).toEqual([true, false, false, false]);
    expect(trees()).toHaveLength(2);
  });

  it('evicts no tree of a living process, but the trees of a dead one', async () => {
    const child = inProcess(`
      process.stdout.write(cache.keep(tree('x'.repeat(2_000))).folder + '\\n');
      setInterval(() => {}, 1000);`);
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const held = line.toString().trim();
    utimesSync(held, 1, 1);
    for (const letter of ['a', 'b', 'c', 'd']) {
      const cache = open(3_000);
      cache.keep(tree(letter.repeat(2_000)));
      cache.close();
      expect(existsSync(held)).toBe(true);
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    utimesSync(held, 1, 1);
    open(3_000).keep(tree('e'.repeat(2_000)));
    expect(existsSync(held)).toBe(false);
    expect(readdirSync(join(folder, 'leases'))).toHaveLength(1);
  });

  it('returns the whole skill or nothing to processes that read during evictions', async () => {
    const turns = 150;
    const reader = `
      const { readFileSync } = await import('node:fs');
      let found = 0;
      for (let turn = 0; turn < ${turns}; turn += 1) {
        const reading = openTreeCache(${JSON.stringify(folder)}, { maxBytes: 3_000 });
        const text = String.fromCharCode(97 + turn % 5).repeat(1_000);
        const view = reading.keep(tree(text));
        if (readFileSync(view.folder + '/SKILL.md', 'utf8') !== text) throw new Error('another text');
        found += 1;
        reading.close();
      }
      process.stdout.write(String(found));`;
    const children = [inProcess(reader), inProcess(reader), inProcess(reader)];
    const outcomes = await Promise.all(
      children.map(async (child) => {
        let text = '';
        child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
        const [code] = (await once(child, 'exit')) as [number];
        return [code, text];
      }),
    );
    expect(outcomes).toEqual(children.map(() => [0, String(turns)]));
    expect(trees().filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('keeps every byte of every held view, while processes evict all that they can', async () => {
    const evicting = `
      process.stdout.write('ready');
      const greedy = openTreeCache(${JSON.stringify(folder)}, { maxBytes: 1 });
      let isOver = false;
      process.on('SIGTERM', () => (isOver = true));
      while (!isOver) {
        greedy.added(1);
        await new Promise((resolve) => setImmediate(resolve));
      }`;
    const reading = `
      const { readFileSync } = await import('node:fs');
      const counts = { found: 0, missing: 0 };
      const textOf = (turn) => String.fromCharCode(97 + turn % 3).repeat(1_000);
      const digests = [0, 1, 2].map((turn) => cache.keep(tree(textOf(turn))).digest);
      cache.close();
      for (let turn = 0; turn < 60; turn += 1) {
        const views = [];
        for (const each of [turn, turn + 1]) {
          const found = cache.find(digests[each % 3]);
          counts[found === undefined ? 'missing' : 'found'] += 1;
          views.push([found ?? cache.keep(tree(textOf(each))), textOf(each)]);
        }
        for (const [{ folder }, text] of views)
          for (let looks = 0; looks < 5; looks += 1)
            if (readFileSync(folder + '/SKILL.md', 'utf8') !== text) throw new Error('another text');
        cache.close();
      }
      process.stdout.write(JSON.stringify(counts));`;
    const evictors = [inProcess(evicting), inProcess(evicting)];
    await Promise.all(evictors.map(async ({ stdout }) => await once(stdout as NodeJS.ReadableStream, 'data')));
    const outcomes = await Promise.all(
      [inProcess(reading), inProcess(reading)].map(async (child) => {
        let text = '';
        child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
        const [code] = (await once(child, 'close')) as [number];
        return { code, counts: JSON.parse(text || 'null') as Record<'found' | 'missing', number> | null };
      }),
    );
    const ends = await Promise.all(
      evictors.map(async (child) => {
        child.kill('SIGTERM');
        return await once(child, 'close');
      }),
    );
    expect(ends).toEqual([
      [0, null],
      [0, null],
    ]);
    for (const { code, counts } of outcomes) {
      expect(code).toBe(0);
      // The race took place: some skills were evicted, and some were found.
      expect(counts?.missing).toBeGreaterThan(0);
      expect(counts?.found).toBeGreaterThan(0);
    }
    for (const part of ['claims', 'leases', 'owed']) expect(readdirSync(join(folder, part))).toEqual([]);
    expect(trees().filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('does not wait for a living process that claims a skill', async () => {
    const { digest } = open().keep(tree('one'));
    for (const cache of caches) cache.close();
    const claims = new URL('../../../../src/library/stores/cache/claims.ts', import.meta.url).href;
    const child = inProcess(`
      const { existsSync, writeSync } = await import('node:fs');
      const { evictClaimed } = await import(${JSON.stringify(claims)});
      const folder = ${JSON.stringify(folder)};
      const evicted = evictClaimed(folder + '/claims', folder + '/trees/' + ${JSON.stringify(digest.slice(7))}, () => {
        writeSync(1, 'claimed ');
        while (!existsSync(folder + '/read')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
        return false;
      });
      process.stdout.write(String(evicted));`);
    const printed: string[] = [];
    child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
    const exit = once(child, 'close');
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const quietMs = startQuietClock();
    const views = [open().find(digest), open().keep(tree('one'))];
    expect(quietMs()).toBeLessThan(1_500);
    // The process waits for this file.
    writeFileSync(join(folder, 'read'), '');
    expect(views.map((view) => view?.digest)).toEqual([digest, digest]);
    expect(await exit).toEqual([0, null]);
    expect(printed.join('')).toBe('claimed false');
    expect(readFileSync(join(views[0]?.folder ?? '', 'SKILL.md'), 'utf8')).toBe('one');
    expect(trees()).toEqual([digest.slice(7)]);
  });

  it('keeps no skill where its folder holds a file that cannot be read', () => {
    const { digest, folder: place } = open().keep(tree('one'));
    chmodSync(join(place, 'SKILL.md'), 0o644);
    truncateSync(join(place, 'SKILL.md'), SKILL_BYTES + 1);
    expect(open().find(digest)).toBeUndefined();
    expect(() => open().keep(tree('one'))).toThrow(expect.objectContaining({ code: 'store.unavailable' }) as Error);
  });

  it('removes unfinished writes of a killed process, but not of a living one', async () => {
    const child = inProcess(`
      const { mkdirSync } = await import('node:fs');
      cache.keep(tree('whole'));
      const { currentOwner, ownerName } = await import(${JSON.stringify(new URL('../../../../src/durable/owner.ts', import.meta.url).href)});
      mkdirSync(${JSON.stringify(folder)} + '/trees/.' + ownerName(currentOwner()) + '-00ff.part');
      process.stdout.write('ready');
      setInterval(() => {}, 1000);`);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    open().keep(tree('one'));
    expect(trees().filter((name) => name.endsWith('.part'))).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    open().keep(tree('two'));
    expect(trees().filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(trees()).toHaveLength(3);
  });
});

describe('defaultCacheFolder()', () => {
  it('comes from the environment, where an empty variable counts as unset', () => {
    expect(defaultCacheFolder({ XDG_CACHE_HOME: '/x' })).toBe('/x/skillcell');
    expect(defaultCacheFolder({ XDG_CACHE_HOME: '', HOME: '/home/u' })).toBe('/home/u/.cache/skillcell');
    expect(defaultCacheFolder({ HOME: '/home/u' })).toBe('/home/u/.cache/skillcell');
  });
});
