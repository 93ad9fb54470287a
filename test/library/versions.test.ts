import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { addSkills } from '../../src/library/install/add-skills.ts';
import { approveSkills } from '../../src/library/install/approve-skills.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import { findInSource } from '../../src/library/sources/find-in-source.ts';
import { parseSource } from '../../src/library/sources/parse-source.ts';
import { exportRuntimeGlobals, loadSkillsSubsystem, setSkillsDescriptor } from '../../src/skills/index.ts';
import { meetsRange } from '../../src/skills/select/version-range.ts';
import type { SkillsSubsystem } from '../../src/skills/subsystem.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree, type Tree } from '../conformance/write-tree.ts';
import { codeOf } from '../skills/code-of.ts';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'versions-')));
});
afterEach(() => removeTree(home));

const text = (name: string, version: string | undefined, imports: string[] = []): string =>
  `---\nname: ${name}\ndescription: About ${name}.\n${version === undefined ? '' : `version: ${version}\n`}` +
  `${imports.length === 0 ? '' : `import: ${JSON.stringify(imports)}\n`}---\nVersion ${version}.\n`;

/** Skills of several stores; the last store takes precedence. */
async function subsystemOf(stores: Tree[], refs: string[]): Promise<SkillsSubsystem> {
  const opened = stores.map((files, index) => {
    writeTree(join(home, `store-${index}`), files);
    const cache = openTreeCache(join(home, 'cache'));
    return createDirectoryStore({ path: join(home, `store-${index}`), kind: 'user', cache });
  });
  await using library = await openSkillLibrary({ stores: opened, cacheDir: join(home, 'cache') });
  return await library.subsystem({ refs });
}

const versions = (subsystem: SkillsSubsystem, refs: string[]): string[] =>
  subsystem
    .importSkillset(refs)
    .skills.map(({ id, fields }) => `${id} ${fields.version}`)
    .toSorted();

describe('versions', () => {
  it.each<[string | undefined, string, boolean]>([
    ['1.2.3', '^1.2', true],
    ['1.0', '1.0.0', true],
    ['1', '>=1.0.0 <2', true],
    ['2.0.0', '^1.2', false],
    ['1.2.3-beta', '^1.2', false],
    ['v1.2.3', '~1.2.0', true],
    ['2024-05', '2024-05', true],
    ['2024-05', '*', false],
    ['spring', '^1', false],
    [undefined, '*', false],
    ['1.0.0', 'spring', false],
  ])('%s is in the range %s: %s', (version, range, expected) => {
    expect(meetsRange(version, range)).toBe(expected);
  });

  it('coexist in stores, and a closure has one of each skill, for any order of references', async () => {
    const old = { 'x/SKILL.md': text('x', '1.4.0'), 'a/SKILL.md': text('a', '1.0', ['custom.x@^1.2', 'custom.b']) };
    const now = { 'x/SKILL.md': text('x', '2.0.0'), 'b/SKILL.md': text('b', undefined, ['custom.x']) };
    const stores = [old, now];
    expect(versions(await subsystemOf(stores, ['custom.b']), ['custom.b'])).toContain('custom.x 2.0.0');
    for (const refs of [
      ['custom.a', 'custom.b'],
      ['custom.b', 'custom.a'],
      ['custom.b', 'custom.x@<2'],
    ])
      expect(versions(await subsystemOf(stores, refs), refs), refs.join()).toContain('custom.x 1.4.0');
    const subsystem = await subsystemOf(stores, ['custom.a']);
    expect(Buffer.from(subsystem.skillTree('custom.x').get('SKILL.md')?.bytes ?? []).toString()).toContain(
      'Version 1.4.0.',
    );
  });

  it('use an older importer where the newer one has no match', async () => {
    const one = { 'x/SKILL.md': text('x', '1.0.0'), 'y/SKILL.md': text('y', '1.0.0', ['custom.x@^1']) };
    const two = { 'x/SKILL.md': text('x', '2.0.0'), 'y/SKILL.md': text('y', '2.0.0', ['custom.x@^3']) };
    expect(versions(await subsystemOf([one, two], ['custom.y']), ['custom.y'])).toEqual([
      'custom.x 1.0.0',
      'custom.y 1.0.0',
    ]);
  });

  it('are revised where a later choice needs another one', async () => {
    const one = { 'a/SKILL.md': text('a', '1.0.0'), 'z/SKILL.md': text('z', '1.0.0', ['custom.a@^1']) };
    const two = { 'a/SKILL.md': text('a', '2.0.0') };
    const refs = ['custom.a', 'custom.z'];
    for (const given of [refs, refs.toReversed()])
      expect(versions(await subsystemOf([one, two], given), given)).toEqual(['custom.a 1.0.0', 'custom.z 1.0.0']);
  });

  it('that do not go together are refused, with both demands', async () => {
    const files = {
      'x/SKILL.md': text('x', '1.0'),
      'a/SKILL.md': text('a', '1.0', ['custom.x@^1']),
      'b/SKILL.md': text('b', '1.0', ['custom.x@^2']),
    };
    const refs = ['custom.a', 'custom.b'];
    for (const given of [refs, refs.toReversed()])
      await expect(subsystemOf([files], given)).rejects.toMatchObject({
        code: 'skills.version-unmet',
        message: expect.stringMatching(/(?=.*custom\.a asks for "\^1")(?=.*custom\.b asks for "\^2")/) as string,
      });
    const plain = loadSkillsSubsystem({ roots: [{ kind: 'user', path: join(home, 'store-0') }] });
    expect(versions(plain, ['custom.x@~1.0'])).toEqual(['custom.x 1.0']);
    expect(codeOf(() => plain.importSkillset(['custom.b']))).toBe('skills.version-unmet');
    expect(codeOf(() => plain.importSkillset(['custom.x@^2']))).toBe('skills.version-unmet');
  });

  it('beside the chosen one are explained, with its approval', async () => {
    const [project, source] = [join(home, 'project'), join(home, 'source')];
    mkdirSync(project);
    writeTree(source, { 'x/SKILL.md': text('x', '1.4.0') });
    writeTree(join(home, 'company'), { 'x/SKILL.md': text('x', '1.0.0') });
    writeTree(join(home, 'front'), { 'x/SKILL.md': text('x', '2.0.0') });
    const lockFile = join(project, 'skillcell.lock.json');
    const cache = openTreeCache(join(home, 'cache'));
    const { skills } = await findInSource(parseSource('../source', project), { cache, lockFolder: project });
    await addSkills(skills, { lockFile, into: '.agents/skills' });
    await approveSkills({ lockFile, refs: ['x'], as: 'Ana' });
    const stores = [
      createDirectoryStore({ path: join(home, 'company'), kind: 'company', cache }),
      ...[source, join(home, 'front')].map((path) => createDirectoryStore({ path, kind: 'user', cache })),
    ];
    await using library = await openSkillLibrary({ stores, cacheDir: join(home, 'cache'), lockFile });
    const front = await library.explain('custom.x');
    expect(front.skill).toMatchObject({
      version: '2.0.0',
      approval: { by: null },
      versions: [
        { version: '1.4.0', reason: 'a later source of the user kind takes precedence' },
        { version: '1.0.0', reason: 'the user kind takes precedence over the company kind' },
      ],
    });
    const asked = await library.explain('custom.x@^1.2');
    expect(asked.skill).toMatchObject({ version: '1.4.0', approval: { by: 'Ana' } });
    expect(asked.skill?.versions?.[0]).toEqual({
      version: '2.0.0',
      origin: { root: 'user', folder: 'x', from: { type: 'directory', source: join(home, 'front'), folder: 'x' } },
      reason: 'it takes precedence, but a version range excludes it',
    });
    await expect(library.explain('custom.x@^3')).rejects.toMatchObject({ code: 'skills.version-unmet' });
  });

  it('of imports are found by their ids in a sandbox', async () => {
    const files = { 'x/SKILL.md': text('x', '1.0'), 'a/SKILL.md': text('a', '1.0', ['custom.x@^1']) };
    const { descriptor, trees } = exportRuntimeGlobals(await subsystemOf([files], ['custom.a']), {
      refs: ['custom.a@1'],
      consumer: 'solver.codegen',
    });
    expect(setSkillsDescriptor(descriptor, { arrived: trees }).importSkillset(['custom.a']).skills).toHaveLength(2);
  });
});

describe('openSkillLibrary({ frozen })', () => {
  it('reports unapproved imports of a requested skill, unless the policy denies them', async () => {
    const project = join(home, 'project');
    mkdirSync(project);
    writeTree(join(home, 'source'), { 'x/SKILL.md': text('x', '1.0', ['custom.y']), 'y/SKILL.md': text('y', '1.0') });
    const lockFile = join(project, 'skillcell.lock.json');
    const cache = openTreeCache(join(home, 'cache'));
    const { skills } = await findInSource(parseSource('../source', project), { cache, lockFolder: project });
    await addSkills(skills, { lockFile, into: '.agents/skills' });
    await approveSkills({ lockFile, refs: ['x'], as: 'Ana' });
    const stores = [createDirectoryStore({ path: join(home, 'source'), kind: 'user', cache })];
    const descriptor = { agents_config: { desk: { disabled: ['custom.y'] } } } as never;
    const options = { stores, descriptor, cacheDir: join(home, 'cache'), lockFile, frozen: true };
    await using library = await openSkillLibrary(options);
    const told = async (consumer: string): Promise<unknown[]> => {
      const subsystem = await library.subsystem({ refs: ['custom.x'], consumer });
      const { diagnostics } = exportRuntimeGlobals(subsystem, { refs: ['custom.x'], consumer });
      expect(subsystem.buildSkillsInstructionBlock({ refs: ['custom.x'], consumer }).diagnostics).toEqual(diagnostics);
      return diagnostics.map(({ code, skill }) => [code, skill]);
    };
    expect(await told('other')).toEqual([
      ['import.unknown', undefined],
      ['lock.not-approved', 'custom.y'],
    ]);
    expect(await told('desk')).toEqual([['import.unknown', undefined]]);
  });

  it('loads approved skills, even behind others by precedence, and follows the lock file', async () => {
    const project = join(home, 'project');
    mkdirSync(project);
    writeTree(join(home, 'source'), { 'x/SKILL.md': text('x', '1.0') });
    writeTree(join(home, 'front'), { 'x/SKILL.md': text('x', '6.6.6'), 'y/SKILL.md': text('y', '1.0') });
    const lockFile = join(project, 'skillcell.lock.json');
    const cache = openTreeCache(join(home, 'cache'));
    const { skills } = await findInSource(parseSource('../source', project), { cache, lockFolder: project });
    await addSkills(skills, { lockFile, into: '.agents/skills' });
    const stores = ['source', 'front'].map((name) =>
      createDirectoryStore({ path: join(home, name), kind: 'user', cache }),
    );
    await using library = await openSkillLibrary({ stores, cacheDir: join(home, 'cache'), lockFile, frozen: true });
    const loaded = async (): Promise<string[]> =>
      (await library.subsystem()).skills.map(({ id, fields }) => `${id} ${fields.version}`);
    expect(await loaded()).toEqual([]);
    expect(await library.heads()).toEqual([]);
    await approveSkills({ lockFile, refs: ['x'], as: 'Ana' });
    expect(await library.refresh()).toBe(true);
    expect(await loaded()).toEqual(['custom.x 1.0']);
    expect(library.diagnostics().map(({ code }) => code)).toContain('lock.not-approved');
    writeFileSync(join(home, 'source/x/SKILL.md'), `${text('x', '1.0')} `);
    await library.refresh();
    expect(await loaded()).toEqual([]);
  });
});
