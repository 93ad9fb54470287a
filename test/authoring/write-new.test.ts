import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeNewFolders } from '../../src/authoring/dialect/write-new.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'write-new-'));
});
afterEach(() => removeTree(folder));

it('writeNewFolders() leaves no folder if one of them cannot be written', () => {
  const file = { bytes: Buffer.from('x'), executable: false };
  const trees = ['a', 'b', 'c'].map((name) => {
    const path = name === 'c' ? 'x'.repeat(256) : 'SKILL.md';
    return [name, new Map([[path, file]])] as const;
  });
  expect(() => writeNewFolders(folder, trees)).toThrow(/ENAMETOOLONG/);
  expect(readdirSync(folder)).toEqual([]);
  writeNewFolders(folder, trees.slice(0, 2));
  expect(readdirSync(folder).toSorted()).toEqual(['a', 'b']);
});
