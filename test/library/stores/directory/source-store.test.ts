import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { listSource } from '../../../../src/library/stores/directory/list-source.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import {
  createSourceStore,
  type SourceStore,
  type SourceStoreOptions,
} from '../../../../src/library/stores/directory/source-store.ts';
import { writeTree } from '../../../conformance/write-tree.ts';
import { asOrdinaryUser } from '../../../fixtures/as-ordinary-user.ts';
import { skillText } from '../../../fixtures/source-of.ts';
import { describeStore } from '../conformance/store-conformance.ts';

let folder: string;
let root: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'source-store-')));
  root = join(folder, 'repo');
  mkdirSync(root);
});
afterEach(() => removeTree(folder));

const storeAt = (options: Partial<SourceStoreOptions> = {}): SourceStore =>
  createSourceStore({ path: root, kind: 'project', cache: openTreeCache(join(folder, 'cache')), ...options });

/** Paths of skills, with their plugins, and codes of diagnostics. */
async function come(options: Partial<SourceStoreOptions> = {}): Promise<{ skills: string[]; codes: string[] }> {
  const { items, diagnostics } = await storeAt(options).list();
  return {
    skills: items.map(({ path, origin: { plugin } }) => (plugin === undefined ? path : `${path} of ${plugin}`)),
    codes: diagnostics.map(({ code, path }) => `${code} ${path ?? ''}`),
  };
}

async function fault(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'none',
    ({ code, message }: SkillcellError) => `${code}: ${message}`,
  );
}

function writeSkill(place: string, tree: SkillTree): void {
  for (const [path, { bytes, executable }] of tree) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), bytes, { mode: executable ? 0o755 : 0o644 });
  }
}

describeStore('a folder as a source', {
  can: ['change', 'down'],
  async open(trees) {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'source-scene-')));
    const skills = join(home, 'skills');
    mkdirSync(skills);
    for (const [path, tree] of trees) writeSkill(join(skills, path), tree);
    return {
      store: createSourceStore({ path: skills, kind: 'user', cache: openTreeCache(join(home, 'cache')) }),
      async change(path, tree) {
        rmSync(join(skills, path), { recursive: true, force: true });
        if (tree !== null) writeSkill(join(skills, path), tree);
      },
      async down() {
        renameSync(skills, join(home, 'away'));
      },
      async close() {
        removeTree(home);
      },
    };
  },
});

describe('createSourceStore()', () => {
  it('takes the skills of a root, and the ones of marketplaces and plugins, each once', async () => {
    writeTree(root, {
      'public/units/SKILL.md': skillText('units'),
      'a/b/c/d/e/f/g/deep/SKILL.md': skillText('deep'),
      'own/.claude-plugin/plugin.json': '{ "name": "by-itself", "skills": "./inner" }',
      'own/inner/SKILL.md': skillText('inner'),
      '.claude-plugin/marketplace.json': JSON.stringify({
        plugins: [
          {
            name: 'press',
            source: './',
            strict: false,
            skills: ['./a/b/c/d/e/f/g/deep', './public/units'],
          },
          { name: 'outside', source: '../secret' },
          { name: 'packed', source: { source: 'npm', package: 'x' } },
        ],
      }),
      '.agents/plugins/marketplace.json': JSON.stringify({
        plugins: [
          {
            name: 'again',
            source: { source: 'local', path: './' },
            strict: false,
            skills: './public/units',
          },
          { name: 'far', source: { source: 'github', repo: 'owner/name' } },
        ],
      }),
    });
    expect(await come()).toEqual({
      skills: ['a/b/c/d/e/f/g/deep of press', 'own/inner of by-itself', 'public/units of press'],
      codes: [
        'root.depth a/b/c/d/e/f/g',
        'source.path .claude-plugin/marketplace.json',
        'source.unsupported .claude-plugin/marketplace.json',
        'source.elsewhere .agents/plugins/marketplace.json',
        'source.twice public/units',
      ],
    });
    expect(await storeAt().elsewhere()).toMatchObject([{ plugin: 'far', url: 'https://github.com/owner/name.git' }]);
  });

  it('reports a SKILL.md below another skill, and takes it on request', async () => {
    writeTree(root, { 'a/SKILL.md': skillText('a'), 'a/deep/b/SKILL.md': skillText('b') });
    expect(await come()).toEqual({ skills: ['a'], codes: ['skill.nested a/deep/b/SKILL.md'] });
    expect(await come({ nested: true })).toEqual({ skills: ['a', 'a/deep/b'], codes: [] });
  });

  it('follows no link, opens no device, and skips .git and node_modules of any kind', async () => {
    writeTree(root, {
      'a/SKILL.md': skillText('a'),
      'a/passwd': { symlink: '/etc/passwd' },
      linked: { symlink: 'a' },
      'node_modules/x/SKILL.md': skillText('x'),
      '.git': 'gitdir: ../elsewhere\n',
      'a/.git/config': '[core]\n',
    });
    execFileSync('mkfifo', [join(root, 'fifo')]);
    expect(await come()).toEqual({
      skills: ['a'],
      codes: ['skill.link linked', 'source.left-out fifo', 'skill.link a/passwd'],
    });
    const store = storeAt();
    const [item] = (await store.list()).items;
    if (item === undefined) throw new Error('nothing was listed');
    expect((await store.open(item)).files.map(({ path }) => path)).toEqual(['SKILL.md']);
  });

  it('reports a folder that it may not search, and takes the other skills', async () => {
    writeTree(root, { 'a/SKILL.md': skillText('a'), 'b/closed/SKILL.md': skillText('closed') });
    chmodSync(join(root, 'b/closed'), 0);
    const found = await asOrdinaryUser(folder, come);
    expect(found).toEqual({ skills: ['a'], codes: ['skill.unreadable b/closed'] });
  });

  it('reports unusable names, and paths that are too deep for a sandbox', async () => {
    const deep = Array.from({ length: 70 }, () => 'd').join('/');
    writeTree(root, { 'a/SKILL.md': skillText('a'), [`a/${deep}/x`]: 'x', 'a/b\\c': 'x' });
    writeFileSync(Buffer.from(`${root}/a/\u00ff`, 'latin1'), 'x');
    const { skills, codes } = await come();
    expect([skills, codes.every((code) => code.startsWith('skill.path a/'))]).toEqual([['a'], true]);
    const { diagnostics } = await storeAt().list();
    const told = diagnostics.map(({ message }) => message).join('\n');
    for (const name of ['"a/\ufffd"', 'a/b\\\\c', 'deeper than 64 folders']) expect(told).toContain(name);
  });

  it('opens the listed state or reports a change, even of equal size and time', async () => {
    writeTree(root, { 'a/SKILL.md': skillText('a'), 'a/x': 'one' });
    const past = new Date(1_000_000);
    utimesSync(join(root, 'a/x'), past, past);
    const store = storeAt();
    const [item] = (await store.list()).items;
    if (item === undefined) throw new Error('nothing was listed');
    expect((await store.open(item)).files).toHaveLength(2);
    writeFileSync(join(root, 'a/x'), 'two');
    utimesSync(join(root, 'a/x'), past, past);
    expect(await fault(store.open(item))).toMatch(/^store\.changed/);
    expect(await fault(store.head(item))).toMatch(/^store\.changed/);
    const [again] = (await store.list()).items;
    expect(again?.revision).not.toBe(item.revision);
    chmodSync(join(root, 'a/x'), 0o755);
    expect(await fault(store.open(again ?? item))).toMatch(/^store\.changed/);
    expect((await storeAt().list()).items).toHaveLength(1);
  });

  it('is unavailable, not empty, without its folder', async () => {
    expect(await fault(storeAt({ path: join(root, 'none') }).list())).toMatch(/^store\.unavailable/);
    writeFileSync(join(root, 'file'), 'x');
    expect(await fault(storeAt({ path: join(root, 'file') }).list())).toMatch(/^store\.unavailable/);
  });

  it('refuses a folder with too many names', async () => {
    writeTree(root, { 'a/SKILL.md': skillText('a') });
    for (let index = 0; index < 20; index += 1) mkdirSync(join(root, `a/${index}/below`), { recursive: true });
    expect(listSource(root, 42).entries).toHaveLength(1);
    expect(() => listSource(root, 41)).toThrow(
      expect.objectContaining({ code: 'source.refused', message: expect.stringContaining('more than 41 names') }),
    );
  });
});
