import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { collectArtifacts, type Collection } from '../../../runtime/files/collect-artifacts.ts';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';

it('collectArtifacts() reports an incomplete walk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'collect-'));
  try {
    for (const name of 'abcd') mkdirSync(join(folder, name));
    const collection: Collection = { omitted: [], overLimit: false };
    expect([...collectArtifacts(folder, DEFAULT_LIMITS, collection, 2)]).toEqual([]);
    expect(collection.omitted).toEqual([
      { path: 'c', reason: 'more than 2 entries' },
      { path: '…', reason: 'not all entries were looked at' },
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
