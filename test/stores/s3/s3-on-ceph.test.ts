import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SkillTree } from '../../../src/contracts/skill.ts';
import { openTreeCache } from '../../../src/stores/cache/tree-cache.ts';
import { createS3Store, type S3StoreOptions, type WritableStore } from '../../../src/stores/s3/s3-store.ts';
import { type Ceph, MISSING_CEPH, startCeph } from '../../fixtures/ceph.ts';
import { openRawBucket, type RawBucket } from '../../fixtures/raw-bucket.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { startFaultProxy } from '../../fixtures/fault-proxy.ts';

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
    rmSync(folder, { recursive: true, force: true });
  });

  /** A user of whom nobody has heard. */
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

  test('list(), head() and open() read what lies at the places of files', async () => {
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

  test('put() publishes a skill, at the places of files as well, and delete() takes it away', async () => {
    const user = newUser();
    const store = open(`${user}/skills`);
    const first = await store.put(
      'deeds/sale',
      tree({ 'SKILL.md': skillText('sale'), 'scripts/a.sh': 'echo' }, ['scripts/a.sh']),
      { ifRevision: null },
    );
    expect(await raw.keys(`${user}/`)).toEqual([
      `${user}/skills/deeds/sale/.skillcell.json`,
      `${user}/skills/deeds/sale/SKILL.md`,
      `${user}/skills/deeds/sale/scripts/a.sh`,
    ]);
    const other = open(`${user}/skills`);
    const { items } = await other.list();
    expect(items.map(({ revision }) => revision)).toEqual([first?.revision]);
    const view = await other.open(items[0]!);
    expect(view.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['scripts/a.sh', true],
    ]);
    const second = await store.put('deeds/sale', tree({ 'SKILL.md': skillText('sale again') }), {
      ifRevision: first?.revision ?? '',
    });
    expect(await raw.keys(`${user}/`)).toEqual([
      `${user}/skills/deeds/sale/.skillcell.json`,
      `${user}/skills/deeds/sale/SKILL.md`,
    ]);
    await expect(other.open(items[0]!)).resolves.toMatchObject({ digest: view.digest });
    await store.delete('deeds/sale', { ifRevision: second?.revision ?? '' });
    expect((await other.list()).items).toEqual([]);
    expect(await raw.keys(`${user}/`)).toEqual([`${user}/skills/deeds/sale/.skillcell.json`]);
    await store.put('deeds/sale', tree({ 'SKILL.md': skillText('sale anew') }), { ifRevision: null });
    expect((await other.list()).items).toHaveLength(1);
  });

  test('of twenty who put a skill at once one wins, and the others are told the present revision', async () => {
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
    // Nothing of those who lost is left.
    expect((await raw.keys(`${user}/`)).map((key) => key.split('/').at(-1))).toEqual([
      '.skillcell.json',
      'SKILL.md',
      'who.txt',
    ]);
  });
  void startFaultProxy;
  void describe;
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
