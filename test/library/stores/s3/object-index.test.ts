import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startQuietClock } from '../../../fixtures/quiet-clock.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { type ObjectIndex, openObjectIndex } from '../../../../src/library/stores/s3/object-index.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const DIGEST = `sha256:${'0'.repeat(64)}`;

describe('openObjectIndex()', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'object-index-'));
  });
  afterEach(() => removeTree(folder));

  const fill = (index: ObjectIndex, count: number, from = 0): void => {
    for (let at = from; at < from + count; at += 1) index.keep(`key-${at}`, `etag-${at}`, Buffer.alloc(64 * KIB, at));
  };
  const fileBytes = (): number =>
    readdirSync(folder)
      .filter((name) => name.startsWith('s3-objects'))
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

  test('keeps to its share of the limit of the cache, and evicts the oldest rows', async () => {
    const cache = openTreeCache(folder, { maxBytes: 16 * MIB });
    const [index, other] = [await openObjectIndex(cache, 's3://a/'), await openObjectIndex(cache, 's3://a/')];
    index.keepDigest('deeds/sale', 'r1', DIGEST);
    fill(index, 200);
    // Both are still open, after writes of 12.5 MiB.
    expect(fileBytes()).toBeLessThan(7 * MIB);
    expect(other.find('key-0', 'etag-0')).toBeUndefined();
    await index.close();
    expect(other.find('key-199', 'etag-199')?.[0]).toBe(199);
    await other.close();
    expect(fileBytes()).toBeLessThan(4.5 * MIB);
    expect(fileBytes()).toBeGreaterThan(MIB);
    cache.close();
  });

  test('counts towards the limit of the cache: trees make room for it', async () => {
    const cache = openTreeCache(folder, { maxBytes: 16 * MIB });
    for (let at = 0; at < 14; at += 1)
      cache.keep(new Map([['SKILL.md', { bytes: Buffer.alloc(MIB, at), executable: false }]]));
    cache.close();
    expect(readdirSync(join(folder, 'trees'))).toHaveLength(14);
    const later = openTreeCache(folder, { maxBytes: 16 * MIB });
    const index = await openObjectIndex(later, 's3://a/');
    fill(index, 60);
    await index.close();
    later.close();
    expect(readdirSync(join(folder, 'trees')).length).toBeLessThan(14);
    expect(fileBytes()).toBeGreaterThan(MIB);
  });

  test('starts again where its file is not a database', async () => {
    writeFileSync(join(folder, 's3-objects.sqlite'), 'x'.repeat(8_192));
    const cache = openTreeCache(folder);
    const index = await openObjectIndex(cache, 's3://a/');
    fill(index, 1);
    await index.close();
    const again = await openObjectIndex(cache, 's3://a/');
    expect(again.find('key-0', 'etag-0')).toBeDefined();
    // Another store does not see it.
    const other = await openObjectIndex(cache, 's3://b/');
    expect(other.find('key-0', 'etag-0')).toBeUndefined();
    for (const each of [again, other]) await each.close();
    cache.close();
  });

  test('does not wait while another process writes, and keeps the entries for later', async () => {
    const cache = openTreeCache(folder, { maxBytes: 16 * MIB });
    const index = await openObjectIndex(cache, 's3://a/');
    const writer = new DatabaseSync(join(folder, 's3-objects.sqlite'));
    writer.exec('BEGIN IMMEDIATE');
    const quietMs = startQuietClock();
    index.keepDigest('deeds/sale', 'r1', DIGEST);
    fill(index, 40);
    expect(index.findDigest('deeds/sale', 'r1')).toBe(DIGEST);
    expect(index.findDigest('deeds/sale', 'r2')).toBeUndefined();
    expect(index.find('key-39', 'etag-39')?.[0]).toBe(39);
    const closed = index.close();
    // A synchronous wait would last five seconds.
    expect(quietMs()).toBeLessThan(2_500);
    writer.exec('COMMIT');
    writer.close();
    await closed;
    const again = await openObjectIndex(cache, 's3://a/');
    expect(again.findDigest('deeds/sale', 'r1')).toBe(DIGEST);
    for (const at of [0, 39]) expect(again.find(`key-${at}`, `etag-${at}`)?.[0]).toBe(at);
    await again.close();
    cache.close();
  });

  test('drops entries that wait for a writer beyond its share of the limit', async () => {
    const cache = openTreeCache(folder, { maxBytes: 16 * MIB });
    const index = await openObjectIndex(cache, 's3://a/');
    const writer = new DatabaseSync(join(folder, 's3-objects.sqlite'));
    writer.exec('BEGIN IMMEDIATE');
    fill(index, 63);
    expect(index.find('key-0', 'etag-0')).toBeDefined();
    fill(index, 1, 63);
    expect(index.find('key-0', 'etag-0')).toBeUndefined();
    writer.close();
    await index.close();
    cache.close();
  });

  test('opens while another process makes the file', async () => {
    const writer = new DatabaseSync(join(folder, 's3-objects.sqlite'));
    writer.exec('BEGIN EXCLUSIVE');
    const cache = openTreeCache(folder);
    const opening = openObjectIndex(cache, 's3://a/');
    await new Promise((resolve) => setTimeout(resolve, 50));
    writer.close();
    const index = await opening;
    index.keepDigest('deeds/sale', 'r1', DIGEST);
    expect(index.findDigest('deeds/sale', 'r1')).toBe(DIGEST);
    await index.close();
    const again = await openObjectIndex(cache, 's3://a/');
    expect(again.findDigest('deeds/sale', 'r1')).toBe(DIGEST);
    await again.close();
    cache.close();
  });
});
