import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import type { StoreItem } from '../../../../src/contracts/skills/store.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { parseSkillMarkdown } from '../../../../src/skills/parse/parse-skill.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { openS3Access } from '../../../../src/library/stores/s3/s3-access.ts';
import {
  createS3Store,
  type S3StoreOptions,
  storeOf,
  type WritableStore,
} from '../../../../src/library/stores/s3/s3-store.ts';
import type { BucketWrite } from '../../../fixtures/bucket-writer.ts';
import { type Ceph, type CephUser, MISSING_CEPH, startCeph } from '../../../fixtures/ceph.ts';
import { openRawBucket, type RawBucket } from '../../../fixtures/raw-bucket.ts';
import { describeStore } from '../conformance/store-conformance.ts';
import { describeWith } from '../../../fixtures/describe-with.ts';
import { type Fault, type SeenRequest, startFaultProxy } from '../../../fixtures/fault-proxy.ts';
import { ignoring } from '../../../fixtures/ignored-conditions.ts';
import { until } from '../../../fixtures/until.ts';

const BUCKET = 'skills';

describeWith('s3 on ceph', MISSING_CEPH, () => {
  let ceph: Ceph;
  let raw: RawBucket;
  let folder: string;
  let users = 0;
  const opened: WritableStore[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 's3-store-'));
    ceph = await startCeph();
    raw = openRawBucket(ceph.endpoint, ceph.owner.credentials, BUCKET);
    await raw.create();
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    raw?.close();
    await ceph?.[Symbol.asyncDispose]();
    removeTree(folder);
  });

  /** A user without any objects. */
  const newUser = (): string => `u${(users += 1)}`;
  const open = (prefix: string, more: Partial<S3StoreOptions> = {}): WritableStore => {
    const store = createS3Store({
      bucket: BUCKET,
      endpoint: ceph.endpoint,
      credentials: ceph.owner.credentials,
      prefix,
      kind: 'user',
      cache: openTreeCache(join(folder, 'cache')),
      ...more,
    });
    opened.push(store);
    return store;
  };

  test('list(), head() and open() read the objects at the places of files', async () => {
    const user = newUser();
    await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
    await raw.put(`${user}/skills/deeds/sale/resources/form.md`, 'form');
    const store = open(`${user}/skills`);
    const { items, diagnostics } = await store.list();
    expect(diagnostics).toEqual([]);
    expect(items.map(({ path }) => path)).toEqual(['deeds/sale']);
    const [item] = items;
    if (item === undefined) throw new Error('no item');
    const head = await store.head(item);
    expect(head.names.map(({ path }) => path)).toEqual(['SKILL.md', 'resources/form.md']);
    const view = await store.open(item);
    expect(view.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['resources/form.md', false],
    ]);
  });

  test('put() publishes a skill, also at the places of files, and delete() removes it', async () => {
    const user = newUser();
    const store = open(`${user}/skills`);
    const first = await store.put(
      'deeds/sale',
      tree({ 'SKILL.md': skillText('sale'), 'scripts/a.sh': 'echo', 'empty.txt': '' }, ['scripts/a.sh']),
      { ifRevision: null },
    );
    expect(await raw.keys(`${user}/`)).toEqual([
      `${user}/skills/deeds/sale/.skillcell.json`,
      `${user}/skills/deeds/sale/SKILL.md`,
      `${user}/skills/deeds/sale/empty.txt`,
      `${user}/skills/deeds/sale/scripts/a.sh`,
    ]);
    const other = open(`${user}/skills`);
    const { items } = await other.list();
    expect(items.map(({ revision }) => revision)).toEqual([first?.revision]);
    const view = await other.open(items[0] as StoreItem);
    expect(view.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['empty.txt', false],
      ['scripts/a.sh', true],
    ]);
    const second = await store.put('deeds/sale', tree({ 'SKILL.md': skillText('sale again') }), {
      ifRevision: first?.revision ?? '',
    });
    expect(await raw.keys(`${user}/`)).toEqual([
      `${user}/skills/deeds/sale/.skillcell.json`,
      `${user}/skills/deeds/sale/SKILL.md`,
    ]);
    await expect(other.open(items[0] as StoreItem)).resolves.toMatchObject({ digest: view.digest });
    await store.delete('deeds/sale', { ifRevision: second?.revision ?? '' });
    expect((await other.list()).items).toEqual([]);
    expect(await raw.keys(`${user}/`)).toEqual([`${user}/skills/deeds/sale/.skillcell.json`]);
    await store.put('deeds/sale', tree({ 'SKILL.md': skillText('sale anew') }), { ifRevision: null });
    expect((await other.list()).items).toHaveLength(1);
  });

  test('of twenty concurrent put() calls one wins, and the others get the present revision', async () => {
    const user = newUser();
    const writers = Array.from({ length: 20 }, () => open(`${user}/skills`));
    const race = async (ifRevision: string | null): Promise<string> => {
      const ended = await Promise.allSettled(
        writers.map((store, index) =>
          store.put('deeds/sale', tree({ 'SKILL.md': skillText(`by ${index}`), 'who.txt': `${index}` }), {
            ifRevision,
          }),
        ),
      );
      const won = ended.filter(({ status }) => status === 'fulfilled');
      expect(won).toHaveLength(1);
      const revision = (won[0] as PromiseFulfilledResult<{ revision: string }>).value.revision;
      for (const each of ended)
        if (each.status === 'rejected')
          expect(each.reason).toMatchObject({
            code: 'store.conflict',
            message: expect.stringContaining(revision) as string,
          });
      return revision;
    };
    const first = await race(null);
    const second = await race(first);
    const { items } = await open(`${user}/skills`).list();
    expect(items.map(({ revision }) => revision)).toEqual([second]);
    // The losers leave nothing behind.
    expect((await raw.keys(`${user}/`)).map((key) => key.split('/').at(-1))).toEqual([
      '.skillcell.json',
      'SKILL.md',
      'who.txt',
    ]);
  });

  test('readers beside writers see only whole states, also in lists', async () => {
    const user = newUser();
    const writer = open(`${user}/skills`);
    const files = (round: number): SkillTree =>
      tree({
        'SKILL.md': skillText(`round ${round}`),
        ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`part-${index}.txt`, `${round}`])),
        [`only-${round}.txt`]: `${round}`,
      });
    let { revision } = await writer.put('deeds/sale', files(0), { ifRevision: null });
    let isDone = false;
    const seen = new Set<string>();
    const readers = [0, 1, 2].map(async (number) => {
      const reader = open(`${user}/skills`, { cache: openTreeCache(join(folder, `reader-${number}`)) });
      while (!isDone) {
        const { items } = await reader.list();
        expect(items).toHaveLength(1);
        try {
          const view = await reader.open(items[0] as StoreItem);
          const texts = view.files.map(({ path }) => [path, readFileSync(join(view.folder, path), 'utf8')] as const);
          const round = texts.find(([path]) => path === 'part-0.txt')?.[1] ?? '';
          seen.add(round);
          expect(new Map(texts)).toEqual(
            new Map([...files(Number(round))].map(([path, { bytes }]) => [path, Buffer.from(bytes).toString()])),
          );
        } catch (error) {
          expect(error).toMatchObject({ code: 'store.changed' });
        }
      }
    });
    for (let round = 1; round <= 12; round += 1)
      ({ revision } = await writer.put('deeds/sale', files(round), { ifRevision: revision }));
    isDone = true;
    await Promise.all(readers);
    expect(seen.size).toBeGreaterThan(1);
  });

  test('a failed writer leaves the old state or the new one, and the next writer continues', async () => {
    const user = newUser();
    const first = await open(`${user}/skills`).put(
      'deeds/sale',
      tree({ 'SKILL.md': skillText('old'), 'a.txt': 'old' }),
      { ifRevision: null },
    );
    const outcomes = new Set<string>();
    for (let survives = 0; survives < 18; survives += 1) {
      await using proxy = await startFaultProxy(ceph.endpoint);
      let left = survives;
      proxy.fault = ({ method }) =>
        method === 'GET' || method === 'HEAD' || left-- > 0 ? undefined : { status: 403, code: 'AccessDenied' };
      const at = `deeds/n${survives}`;
      const store = open(`${user}/skills`);
      const before = await store.put(at, tree({ 'SKILL.md': skillText('old'), 'a.txt': 'old' }), { ifRevision: null });
      const dying = open(`${user}/skills`, { endpoint: proxy.endpoint });
      await dying
        .put(at, tree({ 'SKILL.md': skillText('new'), 'b.txt': 'new' }), { ifRevision: before.revision })
        .catch(() => undefined);
      const item = (await store.list()).items.find(({ path }) => path === at);
      if (item === undefined) throw new Error('the skill is gone');
      const { files } = await store.open(item);
      const names = files.map(({ path }) => path).join();
      expect(['SKILL.md,a.txt', 'SKILL.md,b.txt']).toContain(names);
      outcomes.add(names);
    }
    expect(outcomes.size).toBe(2);
    expect(first.revision).not.toBe('');
  });

  test('put() on a service that ignores conditions is refused before any staging', async () => {
    const user = newUser();
    await using proxy = await startFaultProxy(ceph.endpoint);
    proxy.fault = ignoring(raw, ['if-match', 'if-none-match']);
    const store = open(`${user}/skills`, { endpoint: proxy.endpoint });
    const put = store.put('deeds/sale', tree({ 'SKILL.md': skillText('sale') }), { ifRevision: null });
    await expect(put).rejects.toMatchObject({ code: 'store.unsupported' });
    expect(await raw.keys(`${user}/`)).toEqual([]);
    expect((await store.list()).items).toEqual([]);
  });

  describe('a writer that is killed', () => {
    /** The point of the kill: a request that never ends; and whether the skill is then the new one. */
    const points: [name: string, isNow: (request: SeenRequest) => boolean, isNew: boolean][] = [
      ['before it publishes', ({ method, path }) => method === 'PUT' && path.includes('.skillcell.json'), false],
      [
        'between its files',
        ({ headers, path }) => headers['x-amz-copy-source'] !== undefined && path.includes('b.txt'),
        true,
      ],
      [
        'before SKILL.md is at its place',
        ({ headers, path }) => headers['x-amz-copy-source'] !== undefined && path.includes('SKILL.md'),
        true,
      ],
      ['during the probe of the service', ({ method, path }) => method === 'DELETE' && path.includes('/probe-'), false],
      [
        'during its cleanup',
        ({ method, path }) => method === 'DELETE' && path.includes('.skillcell/') && !path.includes('/probe-'),
        true,
      ],
    ];
    test.for(points)('%s leaves one state, and the next writer takes over', async ([, isNow, isNew]) => {
      const user = newUser();
      const store = open(`${user}/skills`);
      const old = { 'SKILL.md': skillText('old'), 'a.txt': 'old' };
      const mine = { 'SKILL.md': skillText('new'), 'b.txt': 'new' };
      const { revision } = await store.put('deeds/sale', tree(old), { ifRevision: null });
      await using proxy = await startFaultProxy(ceph.endpoint);
      let isThere = false;
      proxy.fault = (request) => {
        if (!isNow(request)) return undefined;
        isThere = true;
        return { first: () => new Promise(() => {}) };
      };
      const write: BucketWrite = {
        bucket: BUCKET,
        endpoint: proxy.endpoint,
        credentials: ceph.owner.credentials,
        prefix: `${user}/skills`,
        cache: join(folder, `killed-${user}`),
        path: 'deeds/sale',
        files: mine,
        ifRevision: revision,
      };
      const program = fileURLToPath(new URL('../../../fixtures/bucket-writer.ts', import.meta.url));
      const writer = spawn(process.execPath, [program, JSON.stringify(write)], { stdio: 'inherit' });
      const ended = once(writer, 'exit');
      await until(() => isThere || writer.exitCode !== null, 'the request at which it is killed', 60_000);
      writer.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);

      const seen = async (): Promise<Record<string, string>> => {
        const reader = open(`${user}/skills`);
        const { files, folder: place } = await reader.open((await reader.list()).items[0] as StoreItem);
        return Object.fromEntries(files.map(({ path }) => [path, readFileSync(join(place, path), 'utf8')]));
      };
      expect(await seen()).toEqual(isNew ? mine : old);
      const [item] = (await store.list()).items;
      const next = storeOf({
        access: openS3Access({ bucket: BUCKET, endpoint: ceph.endpoint, credentials: ceph.owner.credentials }),
        prefix: `${user}/skills/`,
        kind: 'user',
        cache: openTreeCache(join(folder, 'cache')),
        takeOverMs: 300,
      });
      opened.push(next);
      const third = { 'SKILL.md': skillText('third'), 'c.txt': 'third' };
      await next.put('deeds/sale', tree(third), { ifRevision: item?.revision ?? '' });
      expect(await seen()).toEqual(third);
      const keys = (await raw.keys(`${user}/`)).map((key) => key.slice(`${user}/skills/deeds/sale/`.length));
      expect(keys.filter((key) => !key.startsWith('.skillcell'))).toEqual(['SKILL.md', 'c.txt']);
    });
  });

  describe('pages of three keys', () => {
    const openPaged = (user: string, endpoint = ceph.endpoint): WritableStore => {
      const connection = { bucket: BUCKET, endpoint, credentials: ceph.owner.credentials };
      const store = storeOf({
        access: openS3Access(connection, { pageKeys: 3 }),
        prefix: `${user}/skills/`,
        kind: 'user',
        cache: openTreeCache(join(folder, `paged-${user}`)),
      });
      opened.push(store);
      return store;
    };
    const filesOf = async (store: WritableStore, item: StoreItem | undefined): Promise<string[]> => {
      const view = await store.open(item as StoreItem);
      return view.files.map(({ path }) => `${path} ${readFileSync(join(view.folder, path), 'utf8').slice(0, 3)}`);
    };

    test('list whole skills across page ends', async () => {
      const user = newUser();
      for (const name of ['n0', 'n1', 'n2'])
        for (const path of ['SKILL.md', 'a.txt', 'b/c.txt', 'd.txt', 'e.txt'])
          await raw.put(`${user}/skills/deeds/${name}/${path}`, path === 'SKILL.md' ? skillText(name) : 'one');
      await using proxy = await startFaultProxy(ceph.endpoint);
      const store = openPaged(user, proxy.endpoint);
      const { items } = await store.list();
      // Skills that were written in this second are listed once more by themselves.
      expect(proxy.seen.filter(({ path }) => path.includes('list-type=2')).length).toBeGreaterThanOrEqual(5);
      expect(items.map(({ path }) => path)).toEqual(['deeds/n0', 'deeds/n1', 'deeds/n2']);
      for (const item of items)
        expect(await filesOf(store, item)).toEqual([
          'SKILL.md ---',
          'a.txt one',
          'b/c.txt one',
          'd.txt one',
          'e.txt one',
        ]);
    });

    test('list one state of a skill that changes between them', async () => {
      const user = newUser();
      const files = (text: string): SkillTree =>
        tree({ 'SKILL.md': skillText(text), 'a.txt': text, 'b.txt': text, 'c.txt': text, 'd.txt': text });
      const writer = open(`${user}/skills`);
      const { revision } = await writer.put('deeds/sale', files('one'), { ifRevision: null });
      await using proxy = await startFaultProxy(ceph.endpoint);
      let second: string | undefined;
      proxy.fault = ({ path }) =>
        path.includes('continuation-token') && second === undefined
          ? {
              first: async () => {
                second = '';
                second = (await writer.put('deeds/sale', files('two'), { ifRevision: revision })).revision;
              },
            }
          : undefined;
      const store = openPaged(user, proxy.endpoint);
      const [item] = (await store.list()).items;
      expect(item?.revision).toBe(second);
      expect(await filesOf(store, item)).toEqual([
        'SKILL.md ---',
        ...['a', 'b', 'c', 'd'].map((name) => `${name}.txt two`),
      ]);
    });
  });

  test('a skill that another tool changes between two pages is listed in its new state', async () => {
    const user = newUser();
    const skill = `${user}/skills/deeds/sale`;
    const write = async (text: string): Promise<void> => {
      for (const path of ['a.txt', 'd.txt']) await raw.put(`${skill}/${path}`, text);
    };
    await write('one');
    for (const path of ['SKILL.md', 'b.txt', 'c.txt']) await raw.put(`${skill}/${path}`, skillText('sale'));
    await using proxy = await startFaultProxy(ceph.endpoint);
    let changes = 0;
    proxy.fault = ({ path }) =>
      path.includes('continuation-token') && changes === 0
        ? { first: () => ((changes += 1), write('two')) }
        : undefined;
    const store = storeOf({
      access: openS3Access(
        { bucket: BUCKET, endpoint: proxy.endpoint, credentials: ceph.owner.credentials },
        { pageKeys: 3 },
      ),
      prefix: `${user}/skills/`,
      kind: 'user',
      cache: openTreeCache(join(folder, 'cache')),
    });
    opened.push(store);
    const view = await store.open((await store.list()).items[0] as StoreItem);
    expect(changes).toBe(1);
    expect(['a.txt', 'd.txt'].map((path) => readFileSync(join(view.folder, path), 'utf8'))).toEqual(['two', 'two']);
  });

  test('put() succeeds where the service completes the write, but reports a failure', async () => {
    const user = newUser();
    await using proxy = await startFaultProxy(ceph.endpoint);
    proxy.fault = ({ method, path }) =>
      method === 'PUT' && path.includes('.skillcell.json')
        ? { doneBut: { status: 500, code: 'InternalError' } }
        : undefined;
    const store = open(`${user}/skills`, { endpoint: proxy.endpoint });
    const { revision } = await store.put('deeds/sale', tree({ 'SKILL.md': skillText('sale') }), { ifRevision: null });
    expect((await open(`${user}/skills`).list()).items.map((item) => item.revision)).toEqual([revision]);
  });

  test('writes of another tool to a published skill count, as in a bucket without skillcell', async () => {
    const user = newUser();
    const store = open(`${user}/skills`);
    const { revision } = await store.put(
      'deeds/sale',
      tree({ 'SKILL.md': skillText('sale'), 'run.sh': 'echo' }, ['run.sh']),
      { ifRevision: null },
    );
    await raw.put(`${user}/skills/deeds/sale/more.md`, 'more');
    const [item] = (await store.list()).items;
    expect(item?.revision).not.toBe(revision);
    const view = await store.open(item as StoreItem);
    expect(view.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['more.md', false],
      ['run.sh', true],
    ]);
    await expect(
      store.put('deeds/sale', tree({ 'SKILL.md': skillText('x') }), { ifRevision: revision }),
    ).rejects.toMatchObject({ code: 'store.conflict' });
    await store.delete('deeds/sale', { ifRevision: item?.revision ?? '' });
    expect((await store.list()).items).toEqual([]);
    await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('by hand'));
    expect((await store.list()).items).toHaveLength(1);
  });

  test('a deleted skill hides no skill that another tool has put below it', async () => {
    const user = newUser();
    const store = open(`${user}/skills`);
    const { revision } = await store.put('deeds', tree({ 'SKILL.md': skillText('deeds') }), { ifRevision: null });
    await store.delete('deeds', { ifRevision: revision });
    await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
    expect((await store.list()).items.map(({ path }) => path)).toEqual(['deeds/sale']);
  });

  test('put() refuses paths that name no file, and folders with other content', async () => {
    const user = newUser();
    const store = open(`${user}/skills`);
    const good = tree({ 'SKILL.md': skillText('sale') });
    for (const path of [
      '../x',
      'a/../b',
      '/a',
      'a//b',
      'a/',
      '.',
      '',
      'a\\b',
      'a\nb',
      '%2e%2e/x',
      '.skillcell/x',
      'a/b/c/d/e/f/g',
    ])
      await expect(store.put(path, good, { ifRevision: null }), path).rejects.toMatchObject({
        code: 'store.key-invalid',
      });
    for (const path of [
      '../x',
      'a/../b',
      '/a',
      '.skillcell.json',
      '.skillcell/x',
      'e\u0301.md',
      'SKILL.md/x',
      'x'.repeat(256),
      'a'.repeat(1_100),
    ])
      await expect(
        store.put('a/b', tree({ 'SKILL.md': skillText('x'), [path]: 'x' }), { ifRevision: null }),
        path,
      ).rejects.toMatchObject({ code: 'store.key-invalid' });
    await expect(store.put('a/b', tree({ 'x.md': 'x' }), { ifRevision: null })).rejects.toMatchObject({
      code: 'skills.invalid',
    });
    await store.put('a/b', good, { ifRevision: null });
    // It would swallow the skill below it.
    await expect(store.put('a', good, { ifRevision: null })).rejects.toMatchObject({ code: 'store.conflict' });
    await expect(store.delete('a/none', { ifRevision: 'x' })).rejects.toMatchObject({ code: 'store.conflict' });
    expect((await raw.keys(`${user}/`)).map((key) => key.split('/').at(-1))).toEqual(['.skillcell.json', 'SKILL.md']);
  });

  test('a warm list requests only pages, a cold one also each SKILL.md and tools.yaml', async () => {
    const user = newUser();
    for (let index = 0; index < 30; index += 1)
      await raw.put(`${user}/skills/deeds/n${index}/SKILL.md`, skillText(`n${index}`));
    await raw.put(`${user}/skills/deeds/n0/tools.yaml`, 'tools: []');
    await raw.put(`${user}/skills/deeds/n0/big.bin`, 'x'.repeat(100_000));
    await using proxy = await startFaultProxy(ceph.endpoint);
    const cache = openTreeCache(join(folder, 'counted'));
    const headAll = async (): Promise<number> => {
      const before = proxy.seen.length;
      const store = open(`${user}/skills`, { endpoint: proxy.endpoint, cache });
      const { items } = await store.list();
      await Promise.all(items.map((item) => store.head(item)));
      await store.close();
      return proxy.seen.length - before;
    };
    expect(await headAll()).toBe(1 + 30 + 1);
    expect(await headAll()).toBe(1);
  });

  describeStore('a bucket', {
    can: ['change', 'down', 'slow', 'cut'],
    async open(trees) {
      const user = newUser();
      const proxy = await startFaultProxy(ceph.endpoint);
      const writer = open(`${user}/skills`);
      const revisions = new Map<string, string>();
      const put = async (path: string, files: SkillTree): Promise<void> => {
        const { revision } = await writer.put(path, files, { ifRevision: revisions.get(path) ?? null });
        revisions.set(path, revision);
      };
      for (const [path, files] of trees) await put(path, files);
      const cache = openTreeCache(join(folder, `scene-${user}`));
      return {
        store: open(`${user}/skills`, { endpoint: proxy.endpoint, cache, timeoutMs: 2_000 }),
        async change(path, files) {
          if (files !== null) return put(path, files);
          await writer.delete(path, { ifRevision: revisions.get(path) ?? '' });
        },
        async down() {
          proxy.fault = () => ({ status: 503, code: 'SlowDown' });
        },
        async slow() {
          proxy.fault = () => ({ stallAfter: 0 });
        },
        async cut() {
          proxy.fault = () => ({ cutAfter: 10 });
        },
        async close() {
          await proxy[Symbol.asyncDispose]();
        },
      };
    },
  });

  describe('threats', () => {
    test('N01 keys that another reader could take for another prefix are left out, and never read', async () => {
      const user = newUser();
      const bad = [
        '../other/SKILL.md',
        'a/../b/SKILL.md',
        './c/SKILL.md',
        'd//e/SKILL.md',
        '/f/SKILL.md',
        '%2e%2e/g/SKILL.md',
        'h%2fi/SKILL.md',
        'j/SKILL.md/',
        'k/%5C/SKILL.md',
      ];
      for (const key of bad) await raw.put(`${user}/skills/${key}`, skillText('bad'));
      await raw.put(`${user}/skills/deeds/good/SKILL.md`, skillText('good'));
      await raw.put(`${user}/skills/deeds/`, '');
      await using proxy = await startFaultProxy(ceph.endpoint);
      const store = open(`${user}/skills`, { endpoint: proxy.endpoint });
      const { items, diagnostics } = await store.list();
      expect(items.map(({ path }) => path)).toEqual(['deeds/good']);
      expect(diagnostics.map(({ code }) => code)).toEqual(bad.map(() => 's3.key'));
      for (const key of bad)
        expect(
          diagnostics.some(
            ({ message }) => message.includes(`/${key}"`) || message.includes(JSON.stringify(key).slice(1)),
          ),
          key,
        ).toBe(true);
      for (const item of items) await store.open(item);
      expect(proxy.seen.filter(({ path }) => path.includes('SKILL.md')).map(({ path }) => path.split('?')[0])).toEqual([
        `/${BUCKET}/${user}/skills/deeds/good/SKILL.md`,
      ]);
      // Control: a plain client reads them, so the refusal is ours.
      expect(await raw.get(`${user}/skills/a/../b/SKILL.md`)).toContain('bad');
    });

    test('N02 a prefix ends where a name ends', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/mine/SKILL.md`, skillText('mine'));
      await raw.put(`${user}/skillsets/deeds/theirs/SKILL.md`, skillText('theirs'));
      await raw.put(`${user}b/skills/deeds/theirs/SKILL.md`, skillText('theirs'));
      for (const prefix of [`${user}/skills`, `${user}/skills/`])
        expect((await open(prefix).list()).items.map(({ path }) => path)).toEqual(['deeds/mine']);
      expect((await open(user).list()).items.map(({ path }) => path)).toEqual([
        'skills/deeds/mine',
        'skillsets/deeds/theirs',
      ]);
      // Control: without the separator, the list holds all three.
      expect(await raw.keys(user)).toHaveLength(3);
      for (const prefix of ['../u1', 'u1/../u2', '/u1', 'u1//skills', 'u1/%2e%2e', 'u1\\skills', 'u1/./skills', '/'])
        expect(() => open(prefix), prefix).toThrow(expect.objectContaining({ code: 'store.key-invalid' }));
    });

    test('N03 names with control or hidden characters, backslashes, too many bytes and twins are left out', async () => {
      const user = newUser();
      const skill = `${user}/skills/deeds/sale`;
      const bad = ['a\nb', 'a\\b', 'a\u0001b', 'a\u202eb', 'x'.repeat(256)];
      for (const name of bad) await raw.put(`${skill}/${name}`, 'bad');
      await raw.put(`${skill}/caf\u00e9.md`, 'composed');
      await raw.put(`${skill}/cafe\u0301.md`, 'not composed');
      await raw.put(`${skill}/nin\u0303o.md`, 'alone');
      await raw.put(`${skill}/a b+c&d.md`, 'plain');
      await raw.put(`${skill}/SKILL.md`, skillText('sale'));
      await using proxy = await startFaultProxy(ceph.endpoint);
      // Names that are not UTF-8, and a NUL: the client cannot write them, but a service may list them.
      proxy.fault = ({ path }) =>
        path.includes('list-type=2')
          ? {
              change: (body) =>
                body
                  .replace('SKILL.md</Key>', 'SKILL.md</Key>')
                  .replace('a%20b%2Bc%26d.md', 'a%20b%2Bc%26d.md')
                  .replace('a%01b', '%FF%FE'),
            }
          : undefined;
      const { items, diagnostics } = await open(`${user}/skills`, { endpoint: proxy.endpoint }).list();
      expect(diagnostics.map(({ code }) => code).toSorted()).toEqual([...bad.map(() => 's3.key'), 's3.twin']);
      expect(diagnostics.some(({ message }) => message.includes('no UTF-8'))).toBe(true);
      const view = await open(`${user}/skills`)
        .open(items[0] as StoreItem)
        .catch((error: unknown) => error);
      expect(view).toMatchObject({
        files: [{ path: 'SKILL.md' }, { path: 'a b+c&d.md' }, { path: 'caf\u00e9.md' }, { path: 'nin\u0303o.md' }],
      });
    });

    test('N04 a key is shadowed by a folder of the same name', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
      await raw.put(`${user}/skills/deeds/sale/blue`, 'file');
      await raw.put(`${user}/skills/deeds/sale/blue/image.jpg`, 'image');
      await raw.put(`${user}/skills/deeds`, 'file');
      const store = open(`${user}/skills`);
      const { items, diagnostics } = await store.list();
      expect(diagnostics.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
        's3.shadowed deeds',
        's3.shadowed deeds/sale/blue',
      ]);
      const view = await store.open(items[0] as StoreItem);
      expect(view.files.map(({ path }) => path)).toEqual(['SKILL.md', 'blue/image.jpg']);
    });

    test('N05 nothing is written outside of the cache', async () => {
      const user = newUser();
      const home = join(folder, 'n05', 'cache');
      for (const key of ['../../../../evil', 'scripts/../../../../evil', 'ok.md'])
        await raw.put(`${user}/skills/deeds/sale/${key}`, 'x');
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
      const store = open(`${user}/skills`, { cache: openTreeCache(home) });
      const { items } = await store.list();
      const view = await store.open(items[0] as StoreItem);
      expect(view.files.map(({ path }) => path)).toEqual(['SKILL.md', 'ok.md']);
      expect(readdirSync(join(folder, 'n05'))).toEqual(['cache']);
      expect(readdirSync(join(home, 'trees'))).toEqual([view.digest.replace('sha256:', '')]);
    });

    test('N06 endless listings, keys over the limit and objects over the size give an error or a diagnostic', async () => {
      const user = newUser();
      for (let index = 0; index < 4; index += 1)
        await raw.put(`${user}/skills/deeds/n${index}/SKILL.md`, skillText(`n${index}`));
      await using proxy = await startFaultProxy(ceph.endpoint);
      const endless = (token: () => string): void => {
        proxy.fault = ({ path }) =>
          path.includes('list-type=2')
            ? {
                change: (body) =>
                  body.replace(
                    '<IsTruncated>false</IsTruncated>',
                    `<IsTruncated>true</IsTruncated><NextContinuationToken>${token()}</NextContinuationToken>`,
                  ),
              }
            : undefined;
      };
      const listed = (): Promise<unknown> => open(`${user}/skills`, { endpoint: proxy.endpoint }).list();
      endless(() => 'same');
      await expect(listed()).rejects.toMatchObject({
        code: 'store.unavailable',
        message: expect.stringContaining('again and again') as string,
      });
      let count = 0;
      endless(() => `token-${(count += 1)}`);
      await expect(listed()).rejects.toMatchObject({ code: 'store.unavailable' });
      expect(count).toBeLessThan(4);
      proxy.fault = ({ path }) =>
        path.includes('list-type=2')
          ? { change: (body) => body.replace('<IsTruncated>false', '<IsTruncated>true') }
          : undefined;
      await expect(listed()).rejects.toMatchObject({ code: 'store.unavailable' });
      proxy.fault = ({ path }) => (path.includes('list-type=2') ? { flood: 9 * 1024 * 1024 } : undefined);
      await expect(listed()).rejects.toMatchObject({
        code: 'store.unavailable',
        message: expect.stringContaining('bytes') as string,
      });

      proxy.fault = ({ path }) =>
        path.includes('list-type=2') && !path.includes('continuation-token')
          ? {
              change: (body) =>
                body
                  .replaceAll(/<Contents>(?:(?!<Contents>).)*n3%2FSKILL.*<\/Contents>/g, '')
                  .replace(
                    '<IsTruncated>false</IsTruncated>',
                    '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>',
                  ),
            }
          : undefined;
      const { items, diagnostics } = await open(`${user}/skills`, {
        endpoint: proxy.endpoint,
        limits: { keys: 3, pages: 10 },
      }).list();
      expect(diagnostics.map(({ code }) => code)).toEqual(['s3.too-many']);
      // The last skill may continue beyond the limit.
      expect(items.map(({ path }) => path)).toEqual(['deeds/n0', 'deeds/n1']);

      proxy.fault = ({ path }) =>
        path.includes('list-type=2')
          ? { change: (body) => body.replace(/<Size>\d+<\/Size>/, `<Size>${5 * 1024 ** 3}</Size>`) }
          : undefined;
      const store = open(`${user}/skills`, { endpoint: proxy.endpoint });
      const [large] = (await store.list()).items;
      const before = proxy.seen.length;
      await expect(store.open(large as StoreItem)).rejects.toMatchObject({ code: 'skills.too-large' });
      expect(proxy.seen.length).toBe(before);
    });

    test('N07 an object that changes between list and read is not read', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('one'));
      await raw.put(`${user}/skills/deeds/sale/a.md`, 'one');
      await using proxy = await startFaultProxy(ceph.endpoint);
      const store = open(`${user}/skills`, { endpoint: proxy.endpoint });
      const [item] = (await store.list()).items;
      let changes = 0;
      proxy.fault = ({ method, path }) =>
        method === 'GET' && path.includes('a.md')
          ? { first: async () => void (await raw.put(`${user}/skills/deeds/sale/a.md`, `two ${(changes += 1)}`)) }
          : undefined;
      await expect(store.open(item as StoreItem)).rejects.toMatchObject({ code: 'store.changed' });
      expect(changes).toBe(1);
      proxy.fault = () => undefined;
      await expect(open(`${user}/skills`).head(item as StoreItem)).rejects.toMatchObject({ code: 'store.changed' });
      // Control: the same without a change.
      const [now] = (await store.list()).items;
      expect((await store.open(now as StoreItem)).files).toHaveLength(2);
    });

    test('N08 a body that is cut, short, stalled or refused never gives half a skill', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
      await raw.put(`${user}/skills/deeds/sale/a.md`, 'a'.repeat(5_000));
      await using proxy = await startFaultProxy(ceph.endpoint);
      const trees = join(folder, 'n08', 'trees');
      const attempt = async (
        fault: Fault,
        times = Number.POSITIVE_INFINITY,
      ): Promise<{ error: unknown; asked: number }> => {
        proxy.fault = () => undefined;
        const store = open(`${user}/skills`, {
          endpoint: proxy.endpoint,
          timeoutMs: 300,
          cache: openTreeCache(join(folder, 'n08')),
        });
        const [item] = (await store.list()).items;
        let asked = 0;
        proxy.fault = ({ path }) => (path.includes('a.md') && (asked += 1) <= times ? fault : undefined);
        const error: unknown = await store.open(item as StoreItem).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        return { error, asked };
      };
      const faults: Fault[] = [
        { cutAfter: 0 },
        { cutAfter: 100 },
        { stallAfter: 100 },
        { stallAfter: 0 },
        { shortBy: 1 },
        { change: (body) => `${body}more` },
        { status: 503, code: 'SlowDown' },
        { status: 500, code: 'InternalError' },
        { status: 403, code: 'RequestTimeTooSkewed' },
      ];
      for (const fault of faults) {
        const { error, asked } = await attempt(fault);
        expect(error, JSON.stringify(fault)).toMatchObject({ code: 'store.unavailable' });
        expect(asked, JSON.stringify(fault)).toBe(3);
      }
      // Not retried: a retry would not help.
      const { error, asked } = await attempt({ status: 403, code: 'AccessDenied' });
      expect(error).toMatchObject({
        code: 'store.unavailable',
        message: expect.stringContaining('AccessDenied, status 403') as string,
      });
      expect(asked).toBe(1);
      expect(existsSync(trees)).toBe(false);
      // Control: the third attempt succeeds.
      expect(await attempt({ cutAfter: 100 }, 2)).toEqual({ error: undefined, asked: 3 });
      expect(readdirSync(trees)).toHaveLength(1);
    });

    test('N08 a failed list is an error, not an empty list', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
      await using proxy = await startFaultProxy(ceph.endpoint);
      for (const fault of [
        { status: 503, code: 'SlowDown' },
        { status: 403, code: 'AccessDenied' },
        { status: 404, code: 'NoSuchBucket' },
        { cutAfter: 50 },
        { stallAfter: 50 },
      ] satisfies Fault[]) {
        proxy.fault = () => fault;
        await expect(
          open(`${user}/skills`, { endpoint: proxy.endpoint, timeoutMs: 300 }).list(),
          JSON.stringify(fault),
        ).rejects.toMatchObject({ code: 'store.unavailable' });
      }
      await using gone = await startFaultProxy(ceph.endpoint);
      const { endpoint } = gone;
      await gone[Symbol.asyncDispose]();
      await expect(open(`${user}/skills`, { endpoint }).list()).rejects.toMatchObject({ code: 'store.unavailable' });
    });

    test('N09 metadata of an object is ignored, and so is a foreign publication', async () => {
      const user = newUser();
      const skill = `${user}/skills/deeds/sale`;
      await raw.put(`${skill}/SKILL.md`, skillText('sale'), { Metadata: { path: '../../evil', mode: '0777' } });
      const publications = [
        'no json',
        '{"__proto__":{"a":1}}',
        JSON.stringify({
          schema: 'skillcell/published-skill@1',
          write: '0'.repeat(36),
          state: 'settled',
          files: [{ path: '../evil', digest: `sha256:${'0'.repeat(64)}`, bytes: 1, executable: true, etag: 'x' }],
        }),
        JSON.stringify({ schema: 'other' }),
      ];
      for (const publication of publications) {
        await raw.put(`${skill}/.skillcell.json`, publication);
        const store = open(`${user}/skills`);
        const { items, diagnostics } = await store.list();
        expect(diagnostics.map(({ code }) => code)).toEqual(['s3.publication']);
        expect(
          (await store.open(items[0] as StoreItem)).files.map(({ path, executable }) => [path, executable]),
        ).toEqual([['SKILL.md', false]]);
      }
    });

    test('N10 cached reads of one tenant are never returned to another one with the same key and ETag', async () => {
      const [a, b] = [newUser(), newUser()];
      const text = skillText('sale');
      for (const user of [a, b]) await raw.put(`${user}/skills/deeds/sale/SKILL.md`, text);
      await using proxy = await startFaultProxy(ceph.endpoint);
      const cache = openTreeCache(join(folder, 'n10'));
      const readHead = async (user: string, bucket = BUCKET): Promise<number> => {
        const store = open(`${user}/skills`, { endpoint: proxy.endpoint, cache, bucket });
        const [item] = (await store.list()).items;
        const before = proxy.seen.length;
        await store.head(item as StoreItem);
        await store.close();
        return proxy.seen.length - before;
      };
      expect(await readHead(a)).toBe(1);
      expect(await readHead(b)).toBe(1);
      // Another bucket with the same prefix, key and ETag.
      const second = openRawBucket(ceph.endpoint, ceph.owner.credentials, 'others');
      await second.create();
      await second.put(`${a}/skills/deeds/sale/SKILL.md`, text);
      second.close();
      expect(await readHead(a, 'others')).toBe(1);
      // Control: the same tenant's second read comes from the cache.
      expect(await readHead(a)).toBe(0);
    });

    test('N11 no credential is in an error, a revision, a name or the cache', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
      const secret = { accessKeyId: 'AKIAsecretaccess', secretAccessKey: 'verysecretkey' };
      const store = open(`${user}/skills`, { credentials: secret });
      const error: unknown = await store.list().catch((reason: unknown) => reason);
      const shown = inspect(error, { depth: 20, showHidden: true });
      expect(shown).toContain('store.unavailable');
      expect(shown).not.toMatch(/AKIAsecret|verysecret|Signature|X-Amz/i);
      expect(store.id).not.toMatch(/secret/i);
      expect(() => open('u', { endpoint: 'http://AKIAsecretaccess:verysecretkey@127.0.0.1/' })).toThrow(
        expect.objectContaining({ code: 'options.invalid', message: expect.not.stringMatching(/secret/) as string }),
      );
    });

    test('N12 a frontmatter fence with a language is refused, as in all sources', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, '---js\n{ name: process.exit(1) }\n---\nBody\n');
      const store = open(`${user}/skills`);
      const [item] = (await store.list()).items;
      const { skillFile } = await store.head(item as StoreItem);
      const { loaded, diagnostics } = parseSkillMarkdown(skillFile.bytes, { folder: 'sale' });
      expect(loaded).toBe(false);
      expect(diagnostics.map(({ code }) => code)).toEqual(['frontmatter.language']);
    });

    test('N14 an object that other tools treat as a link is plain bytes', async () => {
      const user = newUser();
      const skill = `${user}/skills/deeds/sale`;
      await raw.put(`${skill}/SKILL.md`, skillText('sale'));
      await raw.put(`${skill}/link`, '/etc/passwd', {
        ContentType: 'inode/symlink',
        Metadata: { mode: '41471', 's3fs-mode': '0120777' },
      });
      const store = open(`${user}/skills`);
      const view = await store.open((await store.list()).items[0] as StoreItem);
      expect(lstatSync(join(view.folder, 'link')).isFile()).toBe(true);
      expect(readFileSync(join(view.folder, 'link'), 'utf8')).toBe('/etc/passwd');
    });

    test('N15 a publication that is too large, too deep or not an object is ignored', async () => {
      const user = newUser();
      const skill = `${user}/skills/deeds/sale`;
      await raw.put(`${skill}/SKILL.md`, skillText('sale'));
      for (const publication of [
        `[${'['.repeat(100_000)}`,
        `"${'x'.repeat(9 * 1024 * 1024)}"`,
        '{"files":{"constructor":{"prototype":{}}}}',
      ]) {
        await raw.put(`${skill}/.skillcell.json`, publication);
        await using proxy = await startFaultProxy(ceph.endpoint);
        const { items, diagnostics } = await open(`${user}/skills`, { endpoint: proxy.endpoint }).list();
        expect(items).toHaveLength(1);
        expect(diagnostics.map(({ code }) => code)).toEqual(['s3.publication']);
      }
    });

    test('K08 a redirect of a service is never followed, and no signed request reaches another host', async () => {
      const user = newUser();
      await raw.put(`${user}/skills/deeds/sale/SKILL.md`, skillText('sale'));
      await using elsewhere = await startFaultProxy(ceph.endpoint);
      await using proxy = await startFaultProxy(ceph.endpoint);
      const away = elsewhere.endpoint.replace('127.0.0.1', 'localhost');
      const store = open(`${user}/skills`, { endpoint: proxy.endpoint, tries: 1 });
      const [item] = (await store.list()).items;
      for (const status of [301, 302, 303, 307, 308]) {
        const code = status === 307 ? 'TemporaryRedirect' : 'PermanentRedirect';
        const to = { location: `${away}/${BUCKET}`, 'x-amz-bucket-region': 'eu-west-1' };
        proxy.fault = () => ({ status, code, headers: to, endpoint: new URL(away).host });
        const calls = [
          () => store.list(),
          () => store.open(item as StoreItem),
          () => store.put('deeds/new', tree({ 'SKILL.md': skillText('new') }), { ifRevision: null }),
        ];
        for (const call of calls)
          await expect(call(), `${status}`).rejects.toMatchObject({
            code: 'store.unavailable',
            message: expect.stringContaining(`${status}`) as string,
          });
      }
      expect(elsewhere.seen).toEqual([]);
      // Control: the target of the redirect does answer.
      await fetch(`${away}/${BUCKET}`);
      expect(elsewhere.seen).toHaveLength(1);
    });

    test('a bucket with a policy per user answers 403 to the keys of another user, for any client', async () => {
      const [a, b] = [await ceph.addUser('tenanta'), await ceph.addUser('tenantb')];
      const rule = (user: CephUser): object[] => [
        {
          Effect: 'Allow',
          Principal: { AWS: [`arn:aws:iam:::user/${user.id}`] },
          Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
          Resource: [`arn:aws:s3:::${BUCKET}/${user.id}/*`],
        },
        {
          Effect: 'Allow',
          Principal: { AWS: [`arn:aws:iam:::user/${user.id}`] },
          Action: ['s3:ListBucket'],
          Resource: [`arn:aws:s3:::${BUCKET}`],
          Condition: { StringLike: { 's3:prefix': [`${user.id}/*`] } },
        },
      ];
      await raw.allow({ Version: '2012-10-17', Statement: [...rule(a), ...rule(b)] });
      const own = open('tenanta/skills', { credentials: a.credentials });
      await own.put('deeds/sale', tree({ 'SKILL.md': skillText('of a') }), { ifRevision: null });
      expect((await own.list()).items).toHaveLength(1);
      await open('tenantb/skills', { credentials: b.credentials }).put(
        'deeds/sale',
        tree({ 'SKILL.md': skillText('of b') }),
        { ifRevision: null },
      );

      const plain = openRawBucket(ceph.endpoint, a.credentials, BUCKET);
      const denied = { $metadata: expect.objectContaining({ httpStatusCode: 403 }) as object };
      await expect(plain.get('tenantb/skills/deeds/sale/SKILL.md')).rejects.toMatchObject(denied);
      await expect(plain.get('tenanta/../tenantb/skills/deeds/sale/SKILL.md')).rejects.toMatchObject({
        $metadata: { httpStatusCode: expect.any(Number) as number },
      });
      await expect(plain.put('tenantb/skills/deeds/sale/SKILL.md', 'x')).rejects.toMatchObject(denied);
      await expect(plain.keys('tenantb/')).rejects.toMatchObject(denied);
      await expect(plain.keys('')).rejects.toMatchObject(denied);
      // Control: its own objects.
      expect(await plain.get('tenanta/skills/deeds/sale/SKILL.md')).toContain('of a');
      plain.close();
      const foreign = open('tenantb/skills', { credentials: a.credentials });
      await expect(foreign.list()).rejects.toMatchObject({ code: 'store.unavailable' });
      await expect(
        foreign.put('deeds/new', tree({ 'SKILL.md': skillText('x') }), { ifRevision: null }),
      ).rejects.toMatchObject({ code: 'store.unavailable' });
    });
  });
});

function skillText(name: string): string {
  return `---\nname: ${name}\ndescription: What ${name} is for.\n---\nBody of ${name}.\n`;
}

function tree(files: Record<string, string>, executable: string[] = []): SkillTree {
  return new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      { bytes: Buffer.from(text), executable: executable.includes(path) },
    ]),
  );
}
