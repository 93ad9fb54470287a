import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import type { SkillLibrary } from '../../src/library/snapshot/skill-library.ts';
import type { SkillStore } from '../../src/contracts/skills/store.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { until } from '../fixtures/until.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const KIB = 1024;
const BOUND = 256 * KIB;

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'views-')));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const cacheDir = (): string => join(home, 'cache');
const skill = (body: string): string => `---\nname: units\ndescription: Units in reports.\n---\n${body}\n`;

function store(): SkillStore {
  const cache = openTreeCache(cacheDir(), { maxBytes: BOUND });
  return createDirectoryStore({ path: join(home, 'skills'), kind: 'user', cache });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }) as string[];
  } catch {
    return [];
  }
}

/** Leased trees. */
const held = (): string[] => namesIn(join(cacheDir(), 'leases')).filter((name) => /\/[0-9a-f]{64}$/.test(name));

const kept = (): number =>
  namesIn(join(cacheDir(), 'trees'))
    .map((name) => statSync(join(cacheDir(), 'trees', name), { throwIfNoEntry: false }))
    .reduce((sum, stats) => sum + (stats?.isFile() === true ? stats.size : 0), 0);

/** Changes the skill, and fetches all of it. */
async function turn(library: SkillLibrary, number: number): Promise<void> {
  writeTree(join(home, 'skills'), {
    'units/SKILL.md': skill(`Turn ${number}.`),
    'units/data.txt': `${number}`.padEnd(32 * KIB),
  });
  await library.refresh();
  const subsystem = await library.subsystem();
  expect(subsystem.loadSkill('custom.units').text).toBe(`Turn ${number}.`);
}

describe('the cache of a long-lived library', () => {
  it('stays within its limit, as unreferenced skills are released', async () => {
    writeTree(join(home, 'skills'), { 'units/SKILL.md': skill('Text.') });
    await using library = await openSkillLibrary({ stores: [store()], cacheDir: cacheDir() });
    for (let number = 0; number < 16; number += 1) {
      await turn(library, number);
      collectGarbage();
      await tick();
    }
    expect(kept()).toBeLessThanOrEqual(BOUND);
    await until(() => {
      collectGarbage();
      return held().length === 1;
    }, 'only the lease of the present snapshot is left');
  });

  it('keeps a skill that is still referenced, after any number of later versions', async () => {
    writeTree(join(home, 'skills'), { 'units/SKILL.md': skill('First.') });
    await using library = await openSkillLibrary({ stores: [store()], cacheDir: cacheDir() });
    const first = await library.subsystem();
    for (let number = 0; number < 16; number += 1) {
      await turn(library, number);
      collectGarbage();
      await tick();
    }
    expect(Buffer.from(first.skillTree('custom.units').get('SKILL.md')?.bytes ?? []).toString()).toContain('First.');
  });

  it('has no leases after the library is closed, even if the caches of its stores are open', async () => {
    writeTree(join(home, 'skills'), { 'units/SKILL.md': skill('Text.') });
    const round = async (): Promise<void> => {
      const given = { stores: [store()], cacheDir: cacheDir(), admit: () => undefined };
      await using library = await openSkillLibrary(given);
      library.subscribe(() => undefined);
      expect((await library.subsystem()).skillTree('custom.units').size).toBe(1);
      expect(held().length).toBe(1);
    };
    const open = (): number => readdirSync('/proc/self/fd').length;
    // The process keeps descriptors that it opens only once.
    await round();
    const before = open();
    for (let rounds = 0; rounds < 3; rounds += 1) await round();
    expect(held()).toEqual([]);
    await until(() => open() <= before, 'all descriptors are closed');
  });
});

describe('the roots of a library', () => {
  it('are part of every look, and a snapshot keeps their skills', async () => {
    writeTree(join(home, 'built'), { 'units/SKILL.md': skill('Built in.') });
    writeTree(join(home, 'bundle/skills'), { 'dates/SKILL.md': '---\nname: dates\ndescription: Dates.\n---\nISO.\n' });
    const given = { stores: [], cacheDir: cacheDir(), builtinRoot: join(home, 'built'), descriptor: {} };
    await using library = await openSkillLibrary({ ...given, bundleRoot: join(home, 'bundle') });
    const before = await library.subsystem();
    expect(before.skills.map(({ id, rootPath }) => [id, rootPath])).toEqual([
      ['custom.dates', join(home, 'bundle/skills')],
      ['public.units', join(home, 'built')],
    ]);
    expect(before.customSkillsRoot).toBe(join(home, 'bundle/skills'));
    expect(await library.refresh()).toBe(false);
    writeFileSync(join(home, 'built/units/SKILL.md'), skill('Changed.'));
    rmSync(join(home, 'bundle/skills/dates'), { recursive: true });
    expect(await library.refresh()).toBe(true);
    const after = await library.subsystem();
    expect(after.skills.map(({ id, body }) => [id, body])).toEqual([['public.units', 'Changed.\n']]);
    expect(before.readSkillFile('public.units', 'SKILL.md')).toMatchObject({ text: skill('Built in.') });
    expect(before.skillTree('custom.dates').size).toBe(1);
    rmSync(join(home, 'bundle/skills'), { recursive: true });
    await expect(library.refresh()).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('are refused where they are missing', async () => {
    const descriptor = { custom_skills_root: join(home, 'nowhere') };
    const given = { stores: [], cacheDir: cacheDir() };
    await expect(openSkillLibrary({ ...given, descriptor })).rejects.toMatchObject({ code: 'skills.root-missing' });
    await expect(openSkillLibrary({ ...given, builtinRoot: join(home, 'nowhere') })).rejects.toMatchObject({
      code: 'store.unavailable',
    });
  });
});
