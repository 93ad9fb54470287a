import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { RootKind, Skill } from '../../src/contracts/skills/skill.ts';
import type { SkillStore } from '../../src/contracts/skills/store.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import type { SkillLibrary, SkillLibraryOptions } from '../../src/library/snapshot/skill-library.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree, type Tree } from '../conformance/write-tree.ts';
import { farAway } from '../fixtures/far-away.ts';

let home: string;
let opened: SkillLibrary[];
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'library-')));
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((library) => library.close()));
  removeTree(home);
});

const skill = (name: string, { body = 'Text.\n', more = '' } = {}): string =>
  `---\nname: ${name}\ndescription: Is about ${name}.\n${more}---\n${body}`;

const cacheDir = (): string => join(home, 'cache');

/** A store of an existing folder. */
function storeAt(name: string, kind: RootKind = 'user'): SkillStore {
  return createDirectoryStore({ path: join(home, name), kind, cache: openTreeCache(cacheDir()) });
}

/** A store of a new folder of skills. */
function folderStore(name: string, files: Tree, kind: RootKind = 'user'): SkillStore {
  writeTree(join(home, name), files);
  return storeAt(name, kind);
}

async function open(stores: SkillStore[], options: Partial<SkillLibraryOptions> = {}): Promise<SkillLibrary> {
  const library = await openSkillLibrary({ stores, cacheDir: cacheDir(), ...options });
  opened.push(library);
  return library;
}

const UNITS: Tree = {
  'units/SKILL.md': skill('units', { more: 'import: [custom.dates]\n' }),
  'units/data.csv': 'a,b\n',
  'dates/SKILL.md': skill('dates'),
  'dates/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.com/dates\n',
  'maps/SKILL.md': skill('maps'),
};

describe('openSkillLibrary()', () => {
  it('loads a folder exactly as a root does, byte by byte', async () => {
    const files: Tree = {
      ...UNITS,
      'public/claims/SKILL.md': skill('claims', { more: 'namespace: internal\n' }),
      'broken/SKILL.md': 'no frontmatter\n',
      'odd Name/SKILL.md': skill('other'),
      'copy/dates/SKILL.md': skill('dates'),
      'again/maps/SKILL.md': skill('maps', { body: 'Other text.\n' }),
      'numbers/SKILL.md': skill('numbers', { more: 'extra: [.inf, .nan, 12345678901234567890]\n' }),
      'maps/compact.md': 'Short.\n',
      'maps/tools.yaml': '{{',
      'units/inner/SKILL.md': skill('inner'),
      'units/link': { symlink: 'data.csv' },
    };
    const store = folderStore('skills', files);
    const plain = loadSkillsSubsystem({ roots: [{ kind: 'user', path: join(home, 'skills') }] });
    const withoutPlace = ({ folder: _folder, rootPath: _rootPath, ofStore: _ofStore, ...rest }: Skill): unknown => rest;
    const sorted = (rows: readonly unknown[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();
    // The first turn reads the folder, the second one the cache.
    for (let turn = 0; turn < 2; turn += 1) {
      const library = await open([turn === 0 ? store : storeAt('skills')]);
      const subsystem = await library.subsystem();
      const shown = subsystem.skills.map(withoutPlace) as Skill[];
      const expected = plain.skills.map(withoutPlace) as Skill[];
      expect(shown.map(({ diagnostics: _diagnostics, ...rest }) => rest)).toEqual(
        expected.map(({ diagnostics: _diagnostics, ...rest }) => rest),
      );
      expect(sorted(subsystem.diagnostics)).toEqual(sorted(plain.diagnostics));
      for (const { id } of plain.skills) expect(subsystem.skillTree(id)).toEqual(plain.skillTree(id));
    }
  });

  it('fetches heads first, and completely only the closure of the references', async () => {
    const asked: string[] = [];
    const library = await open([farAway(folderStore('skills', UNITS), asked)]);
    expect(asked).toEqual(['list', 'head dates', 'head maps', 'head units']);
    expect((await library.heads()).map(({ id, digest }) => [id, digest])).toEqual([
      ['custom.dates', undefined],
      ['custom.maps', undefined],
      ['custom.units', undefined],
    ]);
    const subsystem = await library.subsystem({ refs: ['custom.units'] });
    expect(asked.slice(4).toSorted()).toEqual(['open dates', 'open units']);
    expect(subsystem.catalog().ids).toEqual(['custom.dates', 'custom.maps', 'custom.units']);
    expect(subsystem.loadSkill('custom.dates').pool).toMatchObject([{ url: 'https://example.com/dates' }]);
    expect([...subsystem.skillTree('custom.units').keys()]).toEqual(['SKILL.md', 'data.csv']);
    for (const use of [
      () => subsystem.importSkillset(['custom.maps']),
      () => subsystem.loadSkill('custom.maps'),
      () => subsystem.readSkillFile('custom.maps', 'SKILL.md'),
      () => subsystem.skillTree('custom.maps'),
      () => subsystem.descriptor({ portable: true }),
      () => subsystem.buildSkillsInstructionBlock({ refs: ['custom.maps'] }),
    ]) {
      expect(use).toThrow(/Cannot load custom\.maps: only its head was fetched/);
    }
  });

  it('reports each diagnostic of a skill once, also of a file that is not part of its head', async () => {
    const files: Tree = {
      'maps/SKILL.md': skill('maps'),
      'maps/tools.yaml': '{{',
      'maps/compact.md': { base64: Buffer.from([0xff, 0]).toString('base64') },
    };
    const library = await open([farAway(folderStore('skills', files))]);
    const { skills } = await library.subsystem();
    expect(skills[0]?.diagnostics.map(({ code }) => code)).toEqual(['tools.invalid', 'compact.invalid']);
  });

  it('requests nothing from a store that the cache has, also in another process', async () => {
    const first = await open([farAway(folderStore('skills', UNITS))]);
    await first.subsystem();
    await first.close();
    const asked: string[] = [];
    const second = await open([farAway(storeAt('skills'), asked)]);
    expect((await second.subsystem()).skillTree('custom.units').size).toBe(2);
    expect(asked).toEqual(['list']);
  });

  it('never uses a cache entry of another store', async () => {
    const tenant = (id: string, asked: string[]): SkillStore => ({
      ...farAway(folderStore('skills', UNITS), asked),
      id,
    });
    await (await open([tenant('s3:bucket/alice', [])])).close();
    const asked: string[] = [];
    await open([tenant('s3:bucket/bob', asked)]);
    expect(asked).toContain('head units');
  });

  it('refuses calls during an outage, which never counts as an empty library', async () => {
    const library = await open([folderStore('skills', UNITS)]);
    renameSync(join(home, 'skills'), join(home, 'away'));
    await expect(library.refresh()).rejects.toMatchObject({ code: 'store.unavailable' });
    await expect(library.heads()).rejects.toMatchObject({ code: 'store.unavailable' });
    await expect(library.subsystem()).rejects.toMatchObject({ code: 'store.unavailable' });
    renameSync(join(home, 'away'), join(home, 'skills'));
    expect((await library.heads()).map(({ id }) => id)).toEqual(['custom.dates', 'custom.maps', 'custom.units']);
    await expect(openSkillLibrary({ stores: [folderStoreGone()], cacheDir: cacheDir() })).rejects.toMatchObject({
      code: 'store.unavailable',
    });
  });

  const folderStoreGone = (): SkillStore => storeAt('nowhere');

  it('uses the last good list during an outage on request, and reports its age', async () => {
    const library = await open([folderStore('skills', { ...UNITS, 'maps/inner/SKILL.md': skill('inner') })], {
      stale: 'use',
    });
    await library.subsystem();
    const nested = { code: 'skill.nested', path: 'maps/inner/SKILL.md' };
    expect(library.diagnostics()).toMatchObject([nested]);
    renameSync(join(home, 'skills'), join(home, 'away'));
    expect(await library.refresh()).toBe(true);
    expect((await library.heads()).length).toBe(3);
    expect(library.diagnostics()).toMatchObject([
      nested,
      {
        code: 'store.stale',
        message: expect.stringMatching(/are those of 20\d\d-[^ ]+Z, \d+ s ago: it is out of reach/),
      },
    ]);
    expect((await library.subsystem()).skillTree('custom.units').size).toBe(2);
    // Another process that never reaches the store itself.
    const other = await open([storeAt('skills')], { stale: 'use' });
    expect((await other.subsystem()).skills.map(({ id }) => id)).toEqual([
      'custom.dates',
      'custom.maps',
      'custom.units',
    ]);
    expect(other.diagnostics()).toMatchObject([nested, { code: 'store.stale' }]);
    renameSync(join(home, 'away'), join(home, 'skills'));
    expect(await library.refresh()).toBe(true);
    expect(library.diagnostics()).toMatchObject([nested]);
    await expect(
      openSkillLibrary({ stores: [folderStoreGone()], cacheDir: cacheDir(), stale: 'use' }),
    ).rejects.toMatchObject({
      code: 'store.unavailable',
    });
  });

  it('reports the age of the last good list in the unit that a reader expects', async () => {
    await open([folderStore('skills', UNITS)]);
    const listedAt = Date.now();
    renameSync(join(home, 'skills'), join(home, 'away'));
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      for (const [seconds, age] of [
        [119, '1[12]\\d s'],
        [125, '2 min'],
        [119 * 60, '1(19|20) min'],
        [125 * 60, '2 h'],
        [47 * 3_600, '47 h'],
        [72 * 3_600, '3 days'],
      ] as const) {
        vi.setSystemTime(listedAt + seconds * 1_000);
        const library = await open([storeAt('skills')], { stale: 'use' });
        await library.heads();
        expect(library.diagnostics()[0]?.message).toMatch(new RegExp(`, ${age} ago: `));
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('shows a change of one store beside the last good list of another one, and refuses both by default', async () => {
    const stores = [
      folderStore('user', UNITS),
      folderStore('company', { 'notes/SKILL.md': skill('notes') }, 'company'),
    ];
    const strict = await open(stores);
    const library = await open(stores, { stale: 'use' });
    await Promise.all([strict.heads(), library.heads()]);
    renameSync(join(home, 'user'), join(home, 'away'));
    writeTree(join(home, 'company'), { 'letters/SKILL.md': skill('letters') });
    await library.refresh();
    const ids = (await library.heads()).map(({ id }) => id);
    expect(ids).toEqual(['custom.dates', 'custom.letters', 'custom.maps', 'custom.notes', 'custom.units']);
    expect(library.diagnostics()).toMatchObject([{ code: 'store.stale', message: expect.stringContaining('/user') }]);
    await expect(strict.refresh()).rejects.toMatchObject({ code: 'store.unavailable' });
    await expect(strict.heads()).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('lets the higher kind win in any order of stores, and reports shadowed skills', async () => {
    const user = folderStore('user', { 'units/SKILL.md': skill('units', { body: 'Of the user.\n' }) }, 'user');
    const company = folderStore(
      'company',
      { 'units/SKILL.md': skill('units', { body: 'Of the company.\n' }) },
      'company',
    );
    const library = await open([user, company]);
    const { skills, diagnostics } = await library.subsystem();
    expect(skills.map(({ id, body, rootKind }) => [id, body, rootKind])).toEqual([
      ['custom.units', 'Of the user.\n', 'user'],
    ]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['skill.shadowed']);
  });

  it('applies policy and internal skills to heads and subsystems', async () => {
    const store = folderStore('skills', { ...UNITS, 'internal/secret/SKILL.md': skill('secret') }, 'builtin');
    const agents_config = { writer: { disabled: ['public.maps'] }, reader: { enabled: ['public.dates'] } };
    const library = await open([store], { descriptor: { agents_config } as never });
    const ids = async (options: object): Promise<string[]> => (await library.heads(options)).map(({ id }) => id);
    expect(await ids({ consumer: 'writer' })).toEqual(['public.dates', 'public.units']);
    expect(await ids({ consumer: 'reader' })).toEqual(['public.dates']);
    expect(await ids({})).not.toContain('internal.secret');
    expect(await ids({ includeInternal: true })).toContain('internal.secret');
    const reader = await library.subsystem({ consumer: 'reader' });
    expect(reader.resolve(['public.maps'], { consumer: 'reader' }).rows).toMatchObject([{ status: 'denied' }]);
    expect(() => reader.skillTree('public.maps')).toThrow(/only its head was fetched/);
    const writer = await library.subsystem({ consumer: 'writer', refs: ['public.maps', 'internal.secret'] });
    expect(() => writer.skillTree('public.maps')).toThrow(/only its head was fetched/);
    expect(() => writer.skillTree('internal.secret')).toThrow(/only its head was fetched/);
  });

  it('searches and explains only skills that the consumer may see', async () => {
    const files = {
      ...UNITS,
      'internal/secret/SKILL.md': skill('secret', { body: 'A word that is nowhere: zyzzyva.\n' }),
    };
    const agents_config = { writer: { disabled: ['public.maps'] }, reader: { enabled: ['public.dates'] } };
    for (const far of [false, true]) {
      const asked: string[] = [];
      const store = folderStore('skills', files, 'builtin');
      const library = await open([far ? farAway(store, asked) : store], { descriptor: { agents_config } as never });
      const find = async (text: string, options: object): Promise<[string[], number]> => {
        const { hits, searched } = await library.search(text, options);
        return [hits.map(({ id }) => id), searched];
      };
      expect(await find('maps', {})).toEqual([['public.maps'], 3]);
      expect(await find('maps', { consumer: 'writer' })).toEqual([[], 2]);
      expect(await find('maps units dates', { consumer: 'reader' })).toEqual([['public.dates'], 1]);
      expect(await find('zyzzyva secret', {})).toEqual([[], 3]);
      expect(await find('zyzzyva', { includeInternal: true })).toEqual([['internal.secret'], 4]);

      const may = await library.explain('public.maps', { consumer: 'other' });
      expect(may).toMatchObject({
        status: 'loaded',
        offered: true,
        skill: { origin: { from: { type: 'directory' } } },
      });
      // A digest needs every byte.
      expect(may.skill?.digest?.startsWith('sha256:')).toBe(far ? undefined : true);
      const denied = await library.explain('public.maps', { consumer: 'writer' });
      expect(denied).toMatchObject({ status: 'denied', offered: false, rules: [{ says: 'against' }] });
      expect(denied).not.toHaveProperty('skill');
      const internal = await library.explain('internal.secret', { consumer: 'writer' });
      expect(internal.status).not.toBe('loaded');
      expect(JSON.stringify(internal)).not.toContain('is about');
      expect(await library.explain('public.nope')).toMatchObject({ status: 'unknown', rules: [] });
      expect(asked.filter((call) => call.startsWith('open'))).toEqual([]);
    }
  });

  it('searches the new state after a change, and refuses during an outage', async () => {
    const library = await open([folderStore('skills', UNITS)]);
    const find = async (): Promise<string[]> => (await library.search('zyzzyva')).hits.map(({ id }) => id);
    expect(await find()).toEqual([]);
    writeFileSync(join(home, 'skills', 'maps', 'SKILL.md'), skill('maps', { body: 'A zyzzyva.\n' }));
    await library.refresh();
    expect(await find()).toEqual(['custom.maps']);
    renameSync(join(home, 'skills'), join(home, 'away'));
    await expect(library.refresh()).rejects.toMatchObject({ code: 'store.unavailable' });
    await expect(find()).rejects.toMatchObject({ code: 'store.unavailable' });
    await expect(library.explain('custom.maps')).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('leaves out refused skills before precedence, by digest', async () => {
    const low = folderStore('low', { 'units/SKILL.md': skill('units', { body: 'Approved.\n' }) }, 'company');
    const high = folderStore('high', { 'units/SKILL.md': skill('units', { body: 'Changed.\n' }) }, 'user');
    const approved = (await (await open([low])).heads())[0]?.digest;
    const seen: string[] = [];
    const library = await open([farAway(low), farAway(high)], {
      admit: ({ id, digest }) => {
        seen.push(digest);
        return digest === approved ? undefined : diagnostic('root.missing', `${id} is not approved.`);
      },
    });
    expect(seen.every((digest) => /^sha256:[0-9a-f]{64}$/.test(digest))).toBe(true);
    expect((await library.subsystem()).skills.map(({ body }) => body)).toEqual(['Approved.\n']);
    expect(library.diagnostics()).toMatchObject([{ code: 'root.missing', message: 'custom.units is not approved.' }]);
  });

  it('returns snapshots that later changes do not affect', async () => {
    const library = await open([folderStore('skills', UNITS)]);
    const before = await library.subsystem();
    expect(await library.refresh()).toBe(false);
    writeFileSync(join(home, 'skills', 'maps', 'SKILL.md'), skill('maps', { body: 'New.\n' }));
    rmSync(join(home, 'skills', 'dates'), { recursive: true });
    expect(await library.refresh()).toBe(true);
    expect(before.skillTree('custom.dates').size).toBe(2);
    expect(before.loadSkill('custom.maps').text).toBe('Text.');
    const after = await library.subsystem();
    expect(after.skills.map(({ id }) => id)).toEqual(['custom.maps', 'custom.units']);
    expect(after.loadSkill('custom.maps').text).toBe('New.');
  });

  it('refuses other bytes for the same revision', async () => {
    const store = folderStore('skills', UNITS);
    const other = folderStore('other', { ...UNITS, 'units/data.csv': 'c,d\n' });
    const library = await open([
      {
        ...store,
        open: async (item) =>
          await other.open((await other.list()).items.find(({ path }) => path === item.path) as typeof item),
      },
    ]);
    await expect(library.subsystem({ refs: ['custom.units'] })).rejects.toMatchObject({ code: 'store.changed' });
  });

  it('notifies subscribers of a change after a hint, and at intervals without one', async () => {
    for (const [name, lookIntervalMs] of [
      ['hinted', 0],
      ['silent', 20],
    ] as const) {
      const store = folderStore(name, UNITS);
      const library = await open(
        [lookIntervalMs === 0 ? store : { ...store, watch: () => ({ [Symbol.dispose]() {} }) }],
        { lookIntervalMs },
      );
      let changes = 0;
      using _subscription = library.subscribe(() => (changes += 1));
      // A watch starts with a delay, and constant edits never let the folder rest.
      for (let edits = 0; changes === 0 && edits < 200; edits += 1) {
        writeFileSync(join(home, name, 'maps', 'SKILL.md'), skill('maps', { body: `Edit ${edits}.\n` }));
        await sleep(200);
      }
      expect(changes).toBeGreaterThan(0);
    }
  });

  it('watches its stores from the first subscription until the last one ends', async () => {
    const seen: string[] = [];
    const watch = (): Disposable => {
      seen.push('begins');
      return { [Symbol.dispose]: () => void seen.push('ends') };
    };
    const library = await open([{ ...folderStore('skills', UNITS), watch }]);
    expect(seen).toEqual([]);
    const first = library.subscribe(() => undefined);
    const second = library.subscribe(() => undefined);
    first[Symbol.dispose]();
    expect(seen).toEqual(['begins']);
    second[Symbol.dispose]();
    expect(seen).toEqual(['begins', 'ends']);
    library.subscribe(() => undefined);
    expect(seen).toEqual(['begins', 'ends', 'begins']);
  });

  it('closes only once, and then refuses calls', async () => {
    const library = await open([folderStore('skills', UNITS)]);
    await library.close();
    await library.close();
    await expect(library.heads()).rejects.toMatchObject({ code: 'store.unavailable' });
    await expect(library.subsystem()).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('reads an empty library as empty', async () => {
    mkdirSync(join(home, 'none'));
    const library = await open([folderStore('none', {})]);
    expect(await library.heads()).toEqual([]);
    expect(library.diagnostics()).toEqual([]);
  });
});
