import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillStore, StoreItem } from '../../../../src/contracts/skills/store.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { loadStoreRoot } from '../../../../src/skills/load/load-store-root.ts';
import { createArchiveStore } from '../../../../src/library/stores/archive/archive-store.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { rawZip, type RawZipEntry } from '../../../fixtures/archives/raw-zip.ts';

let folder: string;
let path: string;
let store: SkillStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'archive-store-'));
  path = join(folder, 'units.skill');
  store = createArchiveStore({ path, kind: 'custom', cache: openTreeCache(join(folder, 'cache')) });
});
afterEach(async () => {
  await store.close();
  removeTree(folder);
});

const skillText = (name: string): string => `---\nname: ${name}\ndescription: ${name}.\n---\nBody.\n`;
const skill = (place: string, name: string): RawZipEntry => ({ name: `${place}SKILL.md`, content: skillText(name) });
const write = (...entries: RawZipEntry[]): void => writeFileSync(path, rawZip(entries));
const only = async (): Promise<StoreItem> => (await store.list()).items[0] as StoreItem;

describe('createArchiveStore()', () => {
  it('lists the skills of each folder, with heads and views', async () => {
    write(
      skill('public/units/', 'units'),
      { name: 'public/units/run', content: '#!/bin/sh\n', mode: 0o104_755 },
      { name: 'public/units/tools.yaml', content: 'tools: [a.b]\n' },
      skill('notes/', 'notes'),
      { name: 'notes/.DS_Store', content: 'x' },
      { name: 'LICENSE', content: 'x' },
    );
    const { items, diagnostics } = await store.list();
    expect(items.map((item) => [item.path, item.origin.folder, item.kind])).toEqual([
      ['notes', 'notes', 'custom'],
      ['public/units', 'public/units', 'custom'],
    ]);
    expect(diagnostics.map(({ code, path: at }) => [code, at])).toEqual([
      ['archive.left-out', 'notes/.DS_Store'],
      ['archive.beside', 'LICENSE'],
    ]);
    const head = await store.head(items[1] as StoreItem);
    expect(head.names.map((name) => name.path)).toEqual(['SKILL.md', 'run', 'tools.yaml']);
    expect(Buffer.from(head.skillFile.bytes).toString()).toBe(skillText('units'));
    expect(Buffer.from(head.tools ?? []).toString()).toBe('tools: [a.b]\n');
    const view = await store.open(items[1] as StoreItem);
    expect(view.digest).toBe(items[1]?.revision);
    expect(view.files.find((file) => file.path === 'run')).toMatchObject({ executable: true });
    const { skills } = loadStoreRoot(
      { kind: 'custom', name: store.id, skills: [{ dir: 'public/units', place: view.folder }] },
      { overrides: new Set(), customNamespaces: new Set() },
      0,
    );
    expect(skills.map(({ id }) => id)).toEqual(['custom.units']);
  });

  it('names a skill at the root after the archive (H25)', async () => {
    write(skill('', 'other'));
    const item = await only();
    expect([item.path, item.origin.folder]).toEqual(['units', '.']);
    const { folder: place } = await store.open(item);
    const { skills, diagnostics } = loadStoreRoot(
      { kind: 'custom', name: store.id, skills: [{ dir: item.path, place }] },
      { overrides: new Set(), customNamespaces: new Set() },
      0,
    );
    expect(skills.map(({ id }) => id)).toEqual(['custom.units']);
    expect(diagnostics.map(({ code }) => code)).toEqual(['skill.name-mismatch']);
  });

  it('reports a changed skill, and still opens an unchanged one', async () => {
    write(skill('units/', 'units'));
    const item = await only();
    write(skill('units/', 'units'), { name: 'README.md', content: 'new' });
    expect((await store.open(item)).digest).toBe(item.revision);
    write(skill('units/', 'changed'));
    for (const use of [() => store.open(item), () => store.head(item)])
      await expect(use()).rejects.toMatchObject({ code: 'store.changed' });
    write(skill('other/', 'units'));
    await expect(store.open(item)).rejects.toMatchObject({ code: 'store.changed' });
    expect((await only()).path).toBe('other');
  });

  it('is unavailable without its file, also after a read, and never empty', async () => {
    await expect(store.list()).rejects.toMatchObject({ code: 'store.unavailable' });
    write(skill('units/', 'units'));
    const item = await only();
    rmSync(path);
    for (const use of [() => store.list(), () => store.open(item), () => store.head(item)])
      await expect(use()).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('refuses a hostile archive, and caches nothing of it', async () => {
    write(skill('units/', 'units'), { name: '../evil', content: 'x' });
    await expect(store.list()).rejects.toMatchObject({
      code: 'archive.refused',
      diagnostics: [{ code: 'zip.name', path: JSON.stringify(path) }],
    });
    expect(() => readFileSync(join(folder, 'cache'))).toThrow('ENOENT');
  });

  it('reads the archive again after the cache was emptied or damaged', async () => {
    write(skill('units/', 'units'));
    const item = await only();
    const { folder: place } = await store.open(item);
    removeTree(join(folder, 'cache'));
    expect((await store.open(item)).folder).toBe(place);
    chmodSync(join(place, 'SKILL.md'), 0o644);
    writeFileSync(join(place, 'SKILL.md'), 'spoiled');
    await store.open(item);
    expect(readFileSync(join(place, 'SKILL.md'), 'utf8')).toBe(skillText('units'));
  });
});
