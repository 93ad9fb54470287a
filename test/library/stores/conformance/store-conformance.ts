import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import type { SkillStore, StoreItem } from '../../../../src/contracts/skills/store.ts';
import { listFiles } from '../../../../src/library/stores/cache/tree-cache.ts';
import { skillDigest } from '../../../../src/skills/text/digest.ts';
import { skillTreeOf, type Tree } from '../../../conformance/write-tree.ts';

/** Events of a source. */
export type SceneEvent = 'change' | 'down' | 'slow' | 'cut';

/** A kind of stores under test. */
export interface StoreScene {
  /** Events that sources of this kind support; each opened scene can trigger them. */
  can: readonly SceneEvent[];
  /** Opens a store with these skills, by paths such as `public/units`. */
  open(trees: ReadonlyMap<string, SkillTree>): Promise<OpenedScene>;
}

/** A store under test, and its events. */
export interface OpenedScene {
  store: SkillStore;
  /** Path of an item, where it differs from that of the tree. */
  pathOf?(path: string): string;
  /** Properties that the source cannot store. */
  lacks?: readonly 'executable'[];
  /** Listed skills stay available without the source. */
  keepsListed?: boolean;
  /** The list contains the frontmatter, and a head contains only that. */
  listsFrontmatter?: boolean;
  /** Replaces the files of a skill; null removes it. */
  change?(path: string, tree: SkillTree | null): Promise<void>;
  /** From now on nothing answers. */
  down?(): Promise<void>;
  /** From now on answers never end. */
  slow?(): Promise<void>;
  /** From now on answers break off in the middle. */
  cut?(): Promise<void>;
  close(): Promise<void>;
}

const FRONTMATTER = '---\nname: units\ndescription: Units in reports.\n---\n';
const UNITS: Tree = {
  'SKILL.md': `${FRONTMATTER}Give SI units.\n`,
  'tools.yaml': 'tools:\n  - id: convert.units\n',
  'references/table.md': '# Table\n',
  'scripts/convert.sh': { text: '#!/bin/sh\necho 1\n', executable: true },
  'data/bytes.bin': { base64: Buffer.from([0, 255, 10, 13, 128]).toString('base64') },
};
const DATES: Tree = { 'SKILL.md': '---\nname: dates\ndescription: Dates in reports.\n---\nWrite ISO dates.\n' };
const CHANGED: Tree = {
  ...UNITS,
  'SKILL.md': `${FRONTMATTER}Give US units.\n`,
};

const TREES: ReadonlyMap<string, SkillTree> = new Map([
  ['public/dates', skillTreeOf(DATES)],
  ['public/units', skillTreeOf(UNITS)],
]);

/** The trigger of an event that the scene supports. */
function happening<Event extends SceneEvent>(opened: OpenedScene, event: Event): NonNullable<OpenedScene[Event]> {
  const make = opened[event];
  if (make === undefined) throw new Error(`the scene declares the event ${event}, but cannot trigger it`);
  return make;
}

/** Tests that every store must pass. */
export function describeStore(name: string, scene: StoreScene): void {
  const itWhere = (event: SceneEvent, title: string, body: () => Promise<void>): void => {
    if (scene.can.includes(event)) it(title, body);
  };
  const describeWhere = (events: readonly SceneEvent[], title: string, body: () => void): void => {
    if (events.some((event) => scene.can.includes(event))) describe(title, body);
  };
  describe(`stores conformance: ${name}`, () => {
    const within = async (
      body: (opened: OpenedScene, item: (path: string) => Promise<StoreItem>) => Promise<void>,
      trees = TREES,
    ): Promise<void> => {
      const opened = await scene.open(trees);
      try {
        await body(opened, async (path) => {
          const { items } = await opened.store.list();
          const found = items.find((each) => each.path === (opened.pathOf?.(path) ?? path));
          if (found === undefined)
            throw new Error(`no item ${path} among ${items.map((each) => each.path).join(', ')}`);
          return found;
        });
      } finally {
        await opened.close();
      }
    };
    const expected = (opened: OpenedScene, tree: SkillTree): SkillTree =>
      opened.lacks?.includes('executable') === true
        ? new Map([...tree].map(([path, file]) => [path, { ...file, executable: false }]))
        : tree;

    it('list() returns every skill once, with its revision, origin and kind', async () => {
      await within(async (opened) => {
        const { items, diagnostics } = await opened.store.list();
        const paths = [...TREES.keys()].map((path) => opened.pathOf?.(path) ?? path);
        expect(items.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
        expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        for (const { revision, origin, kind } of items) {
          expect(revision).toMatch(/^[\x21-\x7e]{1,200}$/);
          expect(origin.source).not.toBe('');
          expect(['builtin', 'company', 'user', 'project', 'custom']).toContain(kind);
        }
      });
    });

    it('list() of an empty source is empty, without diagnostics', async () => {
      await within(async ({ store }) => {
        expect(await store.list()).toEqual({ items: [], diagnostics: [] });
      }, new Map());
    });

    it('list() returns the same revision for an unchanged skill', async () => {
      await within(async ({ store }) => {
        const [first, second] = [await store.list(), await store.list()];
        expect(second.items).toEqual(first.items);
      });
    });

    it('head() returns SKILL.md, tools.yaml, and every file by name and size', async () => {
      await within(async (opened, item) => {
        const head = await opened.store.head(await item('public/units'));
        const tree = skillTreeOf(UNITS);
        expect(head.names).toEqual(listFiles(tree).map(({ path, bytes }) => ({ path, bytes })));
        expect(head.skillFile.path).toBe('SKILL.md');
        const isListed = opened.listsFrontmatter === true;
        expect(head.listed === true).toBe(isListed);
        const text = isListed ? FRONTMATTER : tree.get('SKILL.md')?.bytes;
        expect(Buffer.from(head.skillFile.bytes)).toEqual(Buffer.from(text ?? []));
        const tools = isListed ? undefined : tree.get('tools.yaml')?.bytes;
        expect(Buffer.from(head.tools ?? [])).toEqual(Buffer.from(tools ?? []));
        expect((await opened.store.head(await item('public/dates'))).tools).toBeUndefined();
      });
    });

    it('head() with all bytes has the digest of open()', async () => {
      await within(async ({ store }, item) => {
        const units = await item('public/units');
        const { whole } = await store.head(units);
        const { digest } = await store.open(units);
        expect(whole === undefined ? digest : skillDigest(whole.files)).toBe(digest);
      });
    });

    it('open() returns every byte and mode, in a folder with the digest as its name', async () => {
      await within(async (opened, item) => {
        const view = await opened.store.open(await item('public/units'));
        const files = listFiles(expected(opened, skillTreeOf(UNITS)));
        expect(view.files).toEqual(files);
        expect(view.digest).toBe(skillDigest(files));
        expect(isAbsolute(view.folder) && view.folder.endsWith(view.digest.slice('sha256:'.length))).toBe(true);
        for (const [path, { bytes, executable }] of expected(opened, skillTreeOf(UNITS))) {
          expect(readFileSync(join(view.folder, path)).equals(bytes)).toBe(true);
          expect(lstatSync(join(view.folder, path)).mode & 0o777).toBe(executable ? 0o555 : 0o444);
        }
      });
    });

    it('open() returns the same folder to eight concurrent callers', async () => {
      await within(async ({ store }, item) => {
        const units = await item('public/units');
        const views = await Promise.all(Array.from({ length: 8 }, () => store.open(units)));
        expect(new Set(views.map(({ folder }) => folder)).size).toBe(1);
      });
    });

    it('a call with an aborted signal rejects with its reason', async () => {
      await within(async ({ store }, item) => {
        const units = await item('public/units');
        const reason = new Error('the caller gave up');
        const call = { signal: AbortSignal.abort(reason) };
        await expect(store.list(call)).rejects.toBe(reason);
        await expect(store.head(units, call)).rejects.toBe(reason);
        await expect(store.open(units, call)).rejects.toBe(reason);
      });
    });

    it('an item from no list is refused', async () => {
      await within(async ({ store }, item) => {
        const units = await item('public/units');
        for (const path of ['public/none', '../outside']) {
          for (const call of [() => store.head({ ...units, path }), () => store.open({ ...units, path })]) {
            const error = await call().then(
              () => undefined,
              (cause: unknown) => cause,
            );
            expect(SkillcellError.isInstance(error) && error.code).toMatch(
              /^store\.(?:changed|unavailable|key-invalid)$/,
            );
          }
        }
      });
    });

    it('close() may be called twice', async () => {
      await within(async ({ store }) => {
        await store.close();
        await expect(store.close()).resolves.toBeUndefined();
      });
    });

    describeWhere(['change'], 'that changes', () => {
      const changing = (
        body: (
          change: NonNullable<OpenedScene['change']>,
          opened: OpenedScene,
          item: (path: string) => Promise<StoreItem>,
        ) => Promise<void>,
      ) => within(async (opened, item) => await body(happening(opened, 'change').bind(opened), opened, item));

      it('returns a new revision for a changed skill only', async () => {
        await changing(async (change, _, item) => {
          const before = [await item('public/units'), await item('public/dates')];
          await change('public/units', skillTreeOf(CHANGED));
          const after = [await item('public/units'), await item('public/dates')];
          expect(after[0]?.revision).not.toBe(before[0]?.revision);
          expect(after[1]?.revision).toBe(before[1]?.revision);
        });
      });

      it('returns the original bytes of an old item, or store.changed', async () => {
        await changing(async (change, opened, item) => {
          const old = await item('public/units');
          await change('public/units', skillTreeOf(CHANGED));
          const was = listFiles(expected(opened, skillTreeOf(UNITS)));
          const outcome = await opened.store.open(old).then(
            ({ files }) => files,
            (error: unknown) => (SkillcellError.isInstance(error) ? error.code : error),
          );
          expect([was, 'store.changed']).toContainEqual(outcome);
          const head = await opened.store.head(old).then(
            ({ skillFile }) => Buffer.from(skillFile.bytes).toString(),
            (error: unknown) => (SkillcellError.isInstance(error) ? error.code : error),
          );
          const ofItem = opened.listsFrontmatter === true ? FRONTMATTER : UNITS['SKILL.md'];
          expect([ofItem, 'store.changed']).toContain(head);
        });
      });

      it('leaves an earlier view unchanged', async () => {
        await changing(async (change, opened, item) => {
          const { folder } = await opened.store.open(await item('public/units'));
          await change('public/units', skillTreeOf(CHANGED));
          const { folder: other } = await opened.store.open(await item('public/units'));
          expect(readFileSync(join(folder, 'SKILL.md'), 'utf8')).toBe(UNITS['SKILL.md']);
          expect(readFileSync(join(other, 'SKILL.md'), 'utf8')).toBe(CHANGED['SKILL.md']);
        });
      });

      it('lists new skills, and no removed ones', async () => {
        await changing(async (change, opened) => {
          await change('public/units', null);
          await change(
            'public/added',
            skillTreeOf({ 'SKILL.md': '---\nname: added\ndescription: Is new.\n---\nNew.\n' }),
          );
          const { items } = await opened.store.list();
          const paths = ['public/added', 'public/dates'].map((path) => opened.pathOf?.(path) ?? path);
          expect(items.map(({ path }) => path).toSorted()).toEqual(paths);
        });
      });
    });

    describeWhere(['down', 'slow', 'cut'], 'in trouble', () => {
      const rejection = async (call: Promise<unknown>): Promise<unknown> =>
        await call.then(
          () => undefined,
          (error: unknown) => (SkillcellError.isInstance(error) ? error.code : error),
        );

      itWhere('down', 'is unavailable when it is down, and never empty', async () => {
        await within(async (opened, item) => {
          const units = await item('public/units');
          await happening(opened, 'down').call(opened);
          expect(await rejection(opened.store.list())).toBe('store.unavailable');
          const ofListed = opened.keepsListed === true ? undefined : 'store.unavailable';
          const ofHead = opened.listsFrontmatter === true ? undefined : ofListed;
          expect(await rejection(opened.store.head(units))).toBe(ofHead);
          expect(await rejection(opened.store.open(units))).toBe(ofListed);
        });
      });

      itWhere('slow', 'rejects an aborted call when it is slow', async () => {
        await within(async (opened, item) => {
          const units = await item('public/units');
          await happening(opened, 'slow').call(opened);
          const reason = new Error('the caller gave up');
          const opening = (given: object): Promise<unknown> => opened.store.open(units, given);
          for (const call of [
            opened.store.list.bind(opened.store),
            ...(opened.keepsListed === true ? [] : [opening]),
          ]) {
            const caller = new AbortController();
            const outcome = rejection(call({ signal: caller.signal }));
            setTimeout(() => caller.abort(reason), 50);
            expect(await outcome).toBe(reason);
          }
        });
      });

      itWhere('cut', 'is unavailable when its answers break off, and caches nothing of them', async () => {
        await within(async (opened, item) => {
          const units = await item('public/units');
          await happening(opened, 'cut').call(opened);
          const broken = opened.keepsListed === true ? opened.store.list() : opened.store.open(units);
          expect(await rejection(broken)).toBe('store.unavailable');
        });
      });
    });
  });
}
