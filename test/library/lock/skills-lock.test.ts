import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { importSkillsLock } from '../../../src/library/install/import-skills-lock.ts';
import { verifySkills } from '../../../src/library/install/verify-skills.ts';
import { openTreeCache, type TreeCache } from '../../../src/library/stores/cache/tree-cache.ts';

let home: string;
let cache: TreeCache;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'skills-lock-')));
  cache = openTreeCache(join(home, 'cache'));
  mkdirSync(join(home, 'source/units/b'), { recursive: true });
  mkdirSync(join(home, 'project'));
  writeFileSync(join(home, 'source/units/SKILL.md'), '---\nname: units\ndescription: Units.\n---\nSI.\n');
  writeFileSync(join(home, 'source/units/b/z.txt'), 'z');
  writeFileSync(join(home, 'source/units/a.txt'), 'a');
});
afterEach(() => {
  cache.close();
  removeTree(home);
});

/** The format of Vercel's tool. The hash covers `a.txt`, `b/z.txt` and `SKILL.md`: sha256sum over paths and bytes in this order. */
const COMPUTED = '1e8d8862635c8cc0dd1b6a32ff1232f6e633e039466783fb43c2676c262a2b4a';

function write(entry: object, name = 'units'): void {
  const text = JSON.stringify({
    version: 1,
    skills: { [name]: { source: '../source', sourceType: 'local', ...entry } },
  });
  writeFileSync(join(home, 'project/skills-lock.json'), text);
}

describe('importSkillsLock()', () => {
  it('locks only bytes with the right hash', async () => {
    const lockFile = join(home, 'project/skillcell.lock.json');
    expect(await importSkillsLock({ lockFile, cache })).toBeUndefined();
    write({ computedHash: '0'.repeat(64) });
    await expect(importSkillsLock({ lockFile, cache })).rejects.toMatchObject({ code: 'lock.mismatch' });
    write({ computedHash: COMPUTED, skillPath: 'units/SKILL.md' });
    expect((await importSkillsLock({ lockFile, cache }))?.map(({ id }) => id)).toEqual(['custom.units']);
    expect((await verifySkills({ lockFile }))?.map(({ deviations }) => deviations)).toEqual([[]]);
  });

  it('locks no skill of another name, though its bytes have the hash', async () => {
    const lockFile = join(home, 'project/skillcell.lock.json');
    write({ computedHash: COMPUTED }, 'lengths');
    await expect(importSkillsLock({ lockFile, cache })).rejects.toMatchObject({
      code: 'lock.mismatch',
      message: expect.stringContaining('got no such skill') as string,
    });
  });

  it('refuses invalid entries', async () => {
    const lockFile = join(home, 'project/skillcell.lock.json');
    for (const entry of [{ computedHash: 'short' }, { computedHash: '0'.repeat(64), source: 3 }]) {
      write(entry);
      await expect(importSkillsLock({ lockFile, cache })).rejects.toMatchObject({ code: 'lock.invalid' });
    }
    write({ computedHash: '0'.repeat(64), sourceType: 'node_modules' });
    await expect(importSkillsLock({ lockFile, cache })).rejects.toMatchObject({ code: 'source.refused' });
  });
});
