import { mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree } from '../conformance/write-tree.ts';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'kept-lists-')));
  writeTree(join(home, 'skills'), { 'units/SKILL.md': '---\nname: units\ndescription: Units.\n---\nText.\n' });
});
afterEach(() => removeTree(home));

describe('a kept list', () => {
  it('names skills without kept heads, while the store is out of reach', async () => {
    const cacheDir = join(home, 'cache');
    const open = () => {
      const cache = openTreeCache(cacheDir);
      const store = createDirectoryStore({ path: join(home, 'skills'), kind: 'user', cache });
      return openSkillLibrary({ stores: [store], cacheDir, stale: 'use' });
    };
    await (await open()).close();
    renameSync(join(home, 'skills'), join(home, 'away'));
    rmSync(join(cacheDir, 'index'), { recursive: true });
    await using library = await open();
    expect(await library.heads()).toEqual([]);
    expect(library.diagnostics().map(({ code, path }) => [code, path])).toEqual(
      expect.arrayContaining([
        ['store.missing', 'units'],
        ['store.stale', undefined],
      ]),
    );
  });
});
