import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { loadSkillsSubsystem } from '../../../../src/skills/index.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../../../src/library/stores/directory/directory-store.ts';
import { walkSkills } from '../../../../src/library/stores/directory/walk-skills.ts';
import { writeTree } from '../../../conformance/write-tree.ts';
import { asOrdinaryUser } from '../../../fixtures/as-ordinary-user.ts';
import { describeStore } from '../conformance/store-conformance.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'directory-store-')));
});
afterEach(() => removeTree(folder));

it('walkSkills() takes the newest of all files of a skill as its change', async () => {
  const place = join(folder, 'units');
  mkdirSync(place);
  for (const name of ['b.md', 'SKILL.md', 'a.md', 'c.md']) {
    writeFileSync(join(place, name), '---\nname: units\ndescription: Units.\n---\n');
    await sleep(5);
  }
  const change = (name: string): number => lstatSync(join(place, name)).ctimeMs;
  expect(change('c.md')).toBeGreaterThan(change('b.md'));
  expect(walkSkills(folder).skills.map(({ changedAt }) => changedAt)).toEqual([change('c.md')]);
  chmodSync(join(place, 'a.md'), 0o600);
  expect(walkSkills(folder).skills.map(({ changedAt }) => changedAt)).toEqual([change('a.md')]);
});

const storeAt = (path: string) =>
  createDirectoryStore({ path, kind: 'user', cache: openTreeCache(join(folder, 'cache')) });

function writeSkill(place: string, tree: SkillTree): void {
  for (const [path, { bytes, executable }] of tree) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), bytes, { mode: executable ? 0o755 : 0o644 });
  }
}

describeStore('a folder', {
  can: ['change', 'down'],
  async open(trees) {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'directory-scene-')));
    const root = join(home, 'skills');
    mkdirSync(root);
    for (const [path, tree] of trees) writeSkill(join(root, path), tree);
    return {
      store: createDirectoryStore({ path: root, kind: 'user', cache: openTreeCache(join(home, 'cache')) }),
      async change(path, tree) {
        rmSync(join(root, path), { recursive: true, force: true });
        if (tree !== null) writeSkill(join(root, path), tree);
      },
      async down() {
        renameSync(root, join(home, 'away'));
      },
      async close() {
        removeTree(home);
      },
    };
  },
});

const skill = (name: string, body = 'Text.\n'): string =>
  `---\nname: ${name}\ndescription: Is about ${name}.\n---\n${body}`;

describe('createDirectoryStore()', () => {
  it('reports the same diagnostics as the load of a root', async () => {
    const root = join(folder, 'skills');
    writeTree(root, {
      'good/SKILL.md': skill('good'),
      'good/nested/SKILL.md': skill('nested'),
      'good/link': { symlink: '/etc/hostname' },
      'broken/SKILL.md': 'no frontmatter\n',
      'spelt/Skill.md': skill('spelt'),
      'parts/SKILL.md': skill('parts'),
      'parts/tools.yaml': '{{',
      'parts/compact.md': { base64: Buffer.from([0xff, 0]).toString('base64') },
      'a/b/c/d/e/f/g/SKILL.md': skill('g'),
      'folder/SKILL.md/inner.txt': 'not a skill',
      linked: { symlink: 'good' },
    });
    execFileSync('mkfifo', [join(root, 'good', 'pipe')]);
    const store = storeAt(root);
    const { items, diagnostics } = await store.list();
    const root0 = loadSkillsSubsystem({ roots: [{ kind: 'user', path: root }] });
    expect(items.map(({ path }) => path)).toEqual(['broken', 'good', 'parts', 'spelt']);
    // Diagnostics about the text of a skill come with its head.
    const ofText = ['frontmatter.missing', 'tools.invalid', 'compact.invalid', 'skill.file-name'];
    const expected = root0.diagnostics.filter(({ code }) => !ofText.includes(code));
    expect(expected.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['skill.link', 'skill.nested', 'root.depth', 'skill.unreadable']),
    );
    const sorted = (rows: typeof expected): string[] => rows.map((row) => JSON.stringify(row)).toSorted();
    expect(sorted(diagnostics)).toEqual(sorted(expected));
  });

  it('reads no file through a link, but follows a link to the folder itself', async () => {
    writeTree(join(folder, 'real'), { 'units/SKILL.md': skill('units'), 'units/secret': { symlink: '/etc/passwd' } });
    symlinkSync(join(folder, 'real'), join(folder, 'skills'));
    const store = storeAt(join(folder, 'skills'));
    const [units] = (await store.list()).items;
    const { files } = await store.open(units as NonNullable<typeof units>);
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md']);
  });

  it('distinguishes two writes of equal length within one tick', async () => {
    const root = join(folder, 'skills');
    writeTree(root, { 'units/SKILL.md': skill('units', 'AAAA\n') });
    const store = storeAt(root);
    for (const letter of ['B', 'C', 'D', 'E', 'F', 'G', 'H', 'I']) {
      const text = skill('units', `${letter.repeat(4)}\n`);
      writeFileSync(join(root, 'units', 'SKILL.md'), text);
      const [item] = (await store.list()).items;
      // Right after the list, within the tick in which it ended.
      writeFileSync(join(root, 'units', 'SKILL.md'), skill('units', 'ZZZZ\n'));
      await expect(store.open(item as NonNullable<typeof item>)).rejects.toMatchObject({ code: 'store.changed' });
    }
  });

  it('reports store.changed where a folder is moved away during a read', async () => {
    const root = join(folder, 'skills');
    const files = Array.from({ length: 20 }, (_, file) => [`a/${file}.txt`, `${file}`] as const);
    writeTree(root, { 'a/SKILL.md': skill('a'), ...Object.fromEntries(files) });
    const store = storeAt(root);
    const [item] = (await store.list()).items;
    const mover = spawn(
      process.execPath,
      [
        '-e',
        `const { renameSync } = require('node:fs');
        const [here, away] = process.argv.slice(1);
        console.log('moves');
        for (;;) { renameSync(here, away); renameSync(away, here); }`,
        join(root, 'a'),
        join(folder, 'away'),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await once(mover.stdout, 'data');
    const codes = new Set<unknown>();
    try {
      for (let look = 0; look < 1000; look += 1) {
        for (const read of [store.open(item!), store.head(item!)]) {
          await read.catch((error: { code?: unknown }) => codes.add(error.code));
        }
      }
    } finally {
      mover.kill('SIGKILL');
      await once(mover, 'exit');
    }
    // The folder may be back, unchanged, by the second look: then it counts as unreadable.
    expect([...codes].filter((code) => code !== 'store.unavailable')).toEqual(['store.changed']);
  });

  it.each([
    ['skills', 'units/', 'the skill "units"'],
    ['skills/units', '', 'the skill'],
  ])('distinguishes an unreadable skill of %s from a changed one', async (path, shown, named) => {
    const root = join(folder, 'skills');
    writeTree(root, { 'units/SKILL.md': skill('units'), 'units/data.bin': 'x' });
    chmodSync(join(root, 'units', 'data.bin'), 0);
    const store = storeAt(join(folder, path));
    await asOrdinaryUser(folder, async () => {
      const [units] = (await store.list()).items;
      await expect(store.open(units as NonNullable<typeof units>)).rejects.toMatchObject({
        code: 'store.unavailable',
        message: expect.stringMatching(new RegExp(`^Cannot read ${named}.*: .*permission denied`)),
        diagnostics: [{ code: 'skill.unreadable', path: `${shown}data.bin` }],
      });
    });
  });

  it('reads a folder that is itself a skill', async () => {
    writeTree(join(folder, 'units'), { 'SKILL.md': skill('units') });
    const store = storeAt(join(folder, 'units'));
    const { items } = await store.list();
    expect(items.map(({ path, origin }) => [path, origin.folder])).toEqual([['.', '.']]);
    expect((await store.head(items[0] as (typeof items)[number])).names).toEqual([{ path: 'SKILL.md', bytes: 55 }]);
  });

  it('leaves out a skill of more than 256 MiB, with a diagnostic', async () => {
    const root = join(folder, 'skills');
    writeTree(root, { 'large/SKILL.md': skill('large'), 'small/SKILL.md': skill('small') });
    writeFileSync(join(root, 'large', 'hole.bin'), '');
    truncateSync(join(root, 'large', 'hole.bin'), 257 * 1024 * 1024);
    const { items, diagnostics } = await storeAt(root).list();
    expect(items.map(({ path }) => path)).toEqual(['small']);
    expect(diagnostics).toMatchObject([{ code: 'skill.too-large', path: 'large/' }]);
  });
});
