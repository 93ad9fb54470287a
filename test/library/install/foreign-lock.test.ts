import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { addSkills } from '../../../src/library/install/add-skills.ts';
import { installSkills } from '../../../src/library/install/install-skills.ts';
import { removeSkills } from '../../../src/library/install/remove-skills.ts';
import { findUpdates, takeUpdates } from '../../../src/library/install/update-skills.ts';
import { type LockedSkill, type SkillLock, writeLock } from '../../../src/library/lock/format/lock-format.ts';
import { readLock } from '../../../src/library/lock/format/read-lock.ts';
import { findInSource } from '../../../src/library/sources/find-in-source.ts';
import { parseSource } from '../../../src/library/sources/parse-source.ts';
import { openTreeCache, type TreeCache } from '../../../src/library/stores/cache/tree-cache.ts';

let home: string;
let project: string;
let lockFile: string;
let cache: TreeCache;

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'foreign-lock-')));
  project = join(home, 'project');
  lockFile = join(project, 'skillcell.lock.json');
  mkdirSync(project);
  cache = openTreeCache(join(home, 'cache'));
  for (const name of ['alpha', 'beta']) write(`../source/${name}/SKILL.md`, skillText(name));
  write('../source/alpha/LICENSE', 'Free.');
  await add('../source');
});
afterEach(() => {
  cache.close();
  removeTree(home);
});

const skillText = (name: string): string => `---\nname: ${name}\ndescription: About ${name}.\n---\nText.\n`;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}

async function add(source: string, into = '.agents/skills', force = false): Promise<void> {
  const { skills } = await findInSource(parseSource(source, project), { cache, lockFolder: project });
  await addSkills(skills, { lockFile, into, force });
}

/** Makes the lock file name another place, as one from a repository may. */
function place(id: string, where: string): void {
  const lock = new Map(readLock(lockFile) as SkillLock);
  lock.set(id, { ...(lock.get(id) as LockedSkill), place: where });
  writeFileSync(lockFile, writeLock(lock));
}

const fileOf = (path: string): { bytes: Buffer; executable: boolean } => ({
  bytes: readFileSync(join(project, path)),
  executable: false,
});

const install = async (force = false): Promise<string[]> =>
  (await installSkills({ lockFile, cache, force })).map(({ id, state }) => `${state} ${id}`);

/** All files of the project, with their content. */
const seen = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );

describe('a lock file of another author', () => {
  it.each<[string, () => void]>([
    ['holds other files', () => write('there/notes.txt', 'mine')],
    [
      'holds a file of the skill, but no SKILL.md',
      () => (write('there/LICENSE', 'Free.'), write('there/notes.txt', 'mine')),
    ],
    ['is another skill', () => write('there/SKILL.md', skillText('gamma'))],
    ['holds other skills', () => (write('there/SKILL.md', skillText('alpha')), write('there/gamma/SKILL.md', 'mine'))],
    ['is a repository', () => (write('there/SKILL.md', skillText('alpha')), write('there/.git/HEAD', 'mine'))],
    ['is a file', () => write('there', 'mine')],
    ['has a folder in place of SKILL.md', () => write('there/SKILL.md/notes.txt', 'mine')],
    ['is a link', () => symlinkSync(join(project, '.agents'), join(project, 'there'))],
  ])('cannot replace a folder that %s', async (_, make) => {
    make();
    place('custom.alpha', 'there');
    const before = seen();
    const refused = { code: 'lock.mismatch' };
    await expect(install()).rejects.toMatchObject(refused);
    await expect(removeSkills({ lockFile, refs: ['alpha'] })).rejects.toMatchObject(refused);
    write('../source/alpha/SKILL.md', `${skillText('alpha')}More.\n`);
    const updates = await findUpdates({ lockFile, cache });
    await expect(takeUpdates(updates, { lockFile, cache })).rejects.toMatchObject(refused);
    expect(seen()).toEqual(before);
  });

  it('replaces a folder of other content only by force', async () => {
    write('there/notes.txt', 'mine');
    place('custom.alpha', 'there');
    expect(await install(true)).toEqual(['restored custom.alpha', 'unchanged custom.beta']);
    expect(readdirSync(join(project, 'there')).toSorted()).toEqual(['LICENSE', 'SKILL.md']);
  });

  it.each<[string, () => void]>([
    [
      'only its SKILL.md is left, with other text',
      () => write('.agents/skills/beta/SKILL.md', `${skillText('beta')}!`),
    ],
    ['SKILL.md has lost its name', () => write('.agents/skills/alpha/SKILL.md', 'x')],
    ['SKILL.md is gone', () => rmSync(join(project, '.agents/skills/alpha/SKILL.md'))],
  ])('restores a copy where %s', async (_, change) => {
    change();
    const before = seen();
    expect((await install()).filter((row) => row.startsWith('restored'))).toHaveLength(1);
    expect(seen()).not.toEqual(before);
    expect(await install()).toEqual(['unchanged custom.alpha', 'unchanged custom.beta']);
  });

  it.each<[string, string, () => void]>([
    ['of an unchanged copy', 'more/notes.txt', () => undefined],
    ['of a changed copy', 'notes.txt', () => write('there/SKILL.md', `${skillText('beta')}!`)],
    ['that is a link', 'link', () => symlinkSync(join(project, '.agents'), join(project, 'there/link'))],
  ])('drops an added file %s only by force', async (_, added, change) => {
    place('custom.beta', 'there');
    write('there/SKILL.md', skillText('beta'));
    change();
    if (added !== 'link') write(`there/${added}`, 'mine');
    rmSync(join(project, '.agents/skills/alpha'), { recursive: true });
    const before = seen();
    await expect(install()).rejects.toMatchObject({
      code: 'lock.mismatch',
      message: 'Cannot install the skill: its folder "there" has files that are not locked.',
      diagnostics: [expect.objectContaining({ code: 'lock.added', path: `custom.beta/${added}` })],
    });
    expect(seen()).toEqual(before);
    expect(await install(true)).toEqual(['installed custom.alpha', 'restored custom.beta']);
    expect(readdirSync(join(project, 'there'))).toEqual(['SKILL.md']);
  });

  it('is refused with nested places', async () => {
    place('custom.alpha', '.agents');
    await expect(install(true)).rejects.toMatchObject({
      code: 'lock.invalid',
      message:
        'Cannot read "skillcell.lock.json": two skills have places within each other, got ".agents/skills/beta".',
    });
    expect(existsSync(join(project, '.agents/skills/beta/SKILL.md'))).toBe(true);
  });
});

describe('a concurrent change by another process', () => {
  it('is left alone by installSkills(), with the state "left"', async () => {
    const before = readFileSync(lockFile, 'utf8');
    write('../source/alpha/SKILL.md', `${skillText('alpha')}More.\n`);
    await takeUpdates(await findUpdates({ lockFile, cache }), { lockFile, cache });
    const after = readFileSync(lockFile, 'utf8');
    writeFileSync(lockFile, before);
    rmSync(join(project, '.agents/skills/alpha'), { recursive: true });
    const meanwhile: TreeCache = {
      ...cache,
      find(digest) {
        writeFileSync(lockFile, after);
        return cache.find(digest);
      },
    };
    const rows = await installSkills({ lockFile, cache: meanwhile });
    expect(rows.map(({ state, deviations }) => [state, deviations.length])).toEqual([
      ['left', 2],
      ['unchanged', 0],
    ]);
    expect(await install()).toEqual(['installed custom.alpha', 'unchanged custom.beta']);
  });

  it('of a cached file is not installed', async () => {
    rmSync(join(project, '.agents/skills/alpha'), { recursive: true });
    const meanwhile: TreeCache = {
      ...cache,
      find(digest) {
        const view = cache.find(digest);
        if (view === undefined) return undefined;
        const file = join(view.folder, 'SKILL.md');
        const text = readFileSync(file, 'utf8');
        chmodSync(file, 0o644);
        writeFileSync(file, text.replace('Text', 'Evil'));
        return view;
      },
    };
    // The cache must have the skill, so that it is taken from there.
    cache.keep(new Map(['SKILL.md', 'LICENSE'].map((name) => [name, fileOf(`../source/alpha/${name}`)])));
    expect((await installSkills({ lockFile, cache: meanwhile })).map(({ state }) => state)).toEqual([
      'installed',
      'unchanged',
    ]);
    expect(readFileSync(join(project, '.agents/skills/alpha/SKILL.md'), 'utf8')).toBe(skillText('alpha'));
  });

  it('is not among the results of takeUpdates()', async () => {
    for (const name of ['alpha', 'beta']) write(`../source/${name}/SKILL.md`, `${skillText(name)}More.\n`);
    const updates = await findUpdates({ lockFile, cache });
    await removeSkills({ lockFile, refs: ['alpha'] });
    expect(await takeUpdates(updates, { lockFile, cache })).toEqual(['custom.beta']);
  });

  it('stays where takeUpdates() found the skill without an update', async () => {
    const earlier = await findUpdates({ lockFile, cache });
    write('../source/alpha/SKILL.md', `${skillText('alpha')}More.\n`);
    expect(await takeUpdates(await findUpdates({ lockFile, cache }), { lockFile, cache })).toEqual(['custom.alpha']);
    const after = readFileSync(lockFile, 'utf8');
    expect(await takeUpdates(earlier, { lockFile, cache })).toEqual([]);
    expect(readFileSync(lockFile, 'utf8')).toBe(after);
  });
});

describe('addSkills()', () => {
  it('never nests the folders of two skills', async () => {
    const before = seen();
    write('../more/skills/SKILL.md', skillText('skills'));
    for (const into of ['.agents/skills/alpha', '.agents'])
      await expect(add('../more', into, true)).rejects.toMatchObject({ code: 'lock.mismatch' });
    expect(seen()).toEqual(before);
  });
});

describe('a skill whose folder is its own source', () => {
  it('is neither replaced nor removed without force, as there is no other copy', async () => {
    write('skills/gamma/SKILL.md', skillText('gamma'));
    await add('./skills', 'skills');
    const before = seen();
    const refused = { code: 'lock.mismatch', message: expect.stringContaining('is its own source') as string };
    await expect(removeSkills({ lockFile, refs: ['gamma'] })).rejects.toMatchObject(refused);
    expect(seen()).toEqual(before);
    write('skills/gamma/SKILL.md', `${skillText('gamma')}More.\n`);
    await expect(install()).rejects.toMatchObject(refused);
    await takeUpdates(await findUpdates({ lockFile, cache }), { lockFile, cache });
    expect(await install()).toEqual(['unchanged custom.alpha', 'unchanged custom.beta', 'unchanged custom.gamma']);
    expect((await removeSkills({ lockFile, refs: ['gamma'], force: true })).removed).toEqual(['custom.gamma']);
  });

  it('is recognized through links, and where its folder contains the source', async () => {
    const refused = { code: 'lock.mismatch', message: expect.stringContaining('is its own source') as string };
    write('skills/gamma/SKILL.md', skillText('gamma'));
    symlinkSync('skills', join(project, 'link'));
    await add('./link', 'skills');
    await expect(removeSkills({ lockFile, refs: ['gamma'] })).rejects.toMatchObject(refused);
    place('custom.gamma', 'skills');
    await expect(removeSkills({ lockFile, refs: ['gamma'] })).rejects.toMatchObject(refused);
    await expect(install()).rejects.toMatchObject(refused);
    expect(readFileSync(join(project, 'skills/gamma/SKILL.md'), 'utf8')).toBe(skillText('gamma'));
  });
});
