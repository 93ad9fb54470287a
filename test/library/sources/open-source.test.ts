import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { openSource } from '../../../src/library/sources/open-source.ts';
import { parseSource } from '../../../src/library/sources/parse-source.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';

let cwd: string;
beforeAll(() => {
  // An endpoint of the environment would be part of the id of a bucket.
  for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL']) vi.stubEnv(name, '');
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'open-source-')));
  mkdirSync(join(cwd, 'house'));
  writeFileSync(join(cwd, 'house.zip'), '');
});
afterAll(() => {
  vi.unstubAllEnvs();
  removeTree(cwd);
});

it.each([
  ['./house', 'directory:HERE/house'],
  ['./house.zip', 'archive:HERE/house.zip'],
  ['https://example.com/house.tar.gz', 'archive:https://example.com/house.tar.gz'],
  ['https://example.com/house.git#v1', 'git:https://example.com/house.git#v1'],
  ['https://example.com', 'web:https://example.com'],
  ['mcp:https://example.com/mcp', 'mcp:https://example.com/mcp'],
  ['s3://house/skills', 's3://house/skills/'],
])('openSource() opens %s as a store', async (text, id) => {
  const store = await openSource(parseSource(text, cwd), { kind: 'project', cache: openTreeCache(join(cwd, 'cache')) });
  expect(store.id.replace(cwd, 'HERE')).toBe(id);
  await store.close();
});
