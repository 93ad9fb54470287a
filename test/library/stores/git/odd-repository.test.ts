import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import type { GitStoreOptions } from '../../../../src/library/stores/git/git-store.ts';
import { describeWith, MISSING_GIT } from '../../../fixtures/describe-with.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';

let scene: GitScene;

/** Paths of skills and texts of diagnostics, or the refusal of the whole source. */
async function come(options: Partial<GitStoreOptions> = {}): Promise<{ skills: string[]; told: string }> {
  return await scene
    .open(options)
    .list()
    .then(
      ({ items, diagnostics }) => ({
        skills: items.map(({ path }) => path),
        told: diagnostics.map(({ code, path, message }) => `${code} ${path}: ${message}`).join('\n'),
      }),
      ({ code, message }: SkillcellError) => ({ skills: [], told: `${code}: ${message}` }),
    );
}

/** Makes a tree from rows `MODE TYPE ID\tNAME`, and returns its id. */
function folderOf(rows: readonly string[]): string {
  return scene.repository.git(['mktree'], rows.map((row) => `${row}\n`).join(''));
}

function commitFolder(id: string): void {
  const commit = scene.repository.git(['commit-tree', '-m', 'A commit.', id]);
  scene.repository.git(['update-ref', 'refs/heads/main', commit]);
}

const keepBlob = (text: string): string => scene.repository.git(['hash-object', '-w', '--stdin'], text);

describeWith('git store: odd repositories', MISSING_GIT, () => {
  beforeEach(() => {
    scene = setUpGit();
  });
  afterEach(async () => await scene.close());

  it('have submodules reported, even where one is requested as the folder', async () => {
    const { repository } = scene;
    const other = repository.commit({ 'a/SKILL.md': skillText('a') });
    repository.stage('160000', 'skills/units', other);
    const plugins = [{ name: 'press', source: './', skills: ['./skills/units'] }];
    repository.commit({ '.claude-plugin/marketplace.json': JSON.stringify({ plugins }) });
    const { skills, told } = await come();
    expect(skills).toEqual(['a']);
    expect(told).toMatch(/^source\.submodule skills\/units: [^]*\nsource\.missing .*"\.\/skills\/units"\.$/);
    for (const folder of ['skills/units', 'skills/units/deeper'])
      expect((await come({ folder })).told).toMatch(
        /^source\.refused: .*submodules are not fetched, got skills\/units/,
      );
    expect((await come({ folder: 'skills/other' })).told).toContain('it has no such folder, got skills/other');
  });

  it('keep names with blanks, quotes and letters of any script, but no control characters', async () => {
    const names = [
      ' first',
      '"quoted"',
      '$(id)',
      '*',
      '-rf',
      "it's",
      'a:b',
      'my skill',
      'é',
      'e\u0301-2',
      '日本',
      'last ',
    ];
    const unusable = ['new\nline', 'tab\tname', 'back\\slash'];
    for (const name of [...names, ...unusable]) {
      scene.repository.stage('100644', `${name}/SKILL.md`, skillText('a'));
      scene.repository.stage('100644', `${name}/of ${name}.txt`, name);
    }
    scene.repository.commit({});
    const store = scene.open();
    const { items, diagnostics } = await store.list();
    expect(items.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    for (const item of items) {
      const { files } = await store.open(item);
      expect(files.map(({ path }) => path)).toEqual(['SKILL.md', `of ${item.path}.txt`]);
      expect((await store.head(item)).names).toHaveLength(2);
    }
    expect(diagnostics.map(({ code }) => code)).toEqual(['skill.path']);
    for (const name of unusable) expect(diagnostics[0]?.message).toContain(JSON.stringify(`${name}/SKILL.md`));
    expect((await come({ folder: '"quoted"' })).skills).toEqual(['.']);
  });

  it('may have over 100,000 files, but not in one skill', async () => {
    const row = `100644 blob ${keepBlob('x')}\t`;
    const skillFile = `100644 blob ${keepBlob(skillText('a'))}\tSKILL.md`;
    const thousand = folderOf(Array.from({ length: 1_000 }, (_, index) => `${row}${index}`));
    const many = Array.from({ length: 101 }, (_, index) => `040000 tree ${thousand}\t${index}`);
    commitFolder(folderOf([...many, `040000 tree ${folderOf([skillFile])}\ta`]));
    expect(await come()).toEqual({ skills: ['a'], told: '' });
    commitFolder(folderOf([...many, skillFile]));
    expect(await come()).toEqual({
      skills: [],
      told: 'skill.too-large .: The skill holds more than 20000 files and folders.',
    });
  });

  it('are refused where few objects stand for too many files', async () => {
    let folder = folderOf([`100644 blob ${keepBlob('x')}\tx`]);
    const double = (): string => folderOf(['a', 'b'].map((name) => `040000 tree ${folder}\t${name}`));
    // 64 files in 126 folders, from 8 objects.
    for (let depth = 0; depth < 6; depth += 1) folder = double();
    commitFolder(folder);
    expect(await come({ limits: { objects: 190 } })).toEqual({ skills: [], told: '' });
    expect((await come({ limits: { objects: 189 } })).told).toMatch(
      /^source\.refused: .*it has more than 189 files and folders\.$/,
    );
    // And a billion files.
    for (let depth = 6; depth < 30; depth += 1) folder = double();
    commitFolder(folder);
    expect((await come()).told).toMatch(/^source\.refused: .*it has more than 67108864 bytes of names\.$/);
  });

  it.each([[[]], [['--object-format=sha256']]])('are reported where they are empty (%j)', async (options) => {
    await scene.close();
    scene = setUpGit(...options);
    expect((await come()).told).toMatch(/^source\.refused: .*it is empty, or has no default branch/);
    expect((await come({ ref: 'main' })).told).toMatch(/^source\.refused: .*no branch or tag "main"/);
    // An empty commit differs from no commit.
    scene.repository.commit({});
    expect(await come()).toEqual({ skills: [], told: '' });
  });

  it('are refused without the commit, or with an id of another hash', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    for (const length of [40, 64])
      expect((await come({ ref: '1'.repeat(length) })).told).toMatch(/^source\.refused: .*it has no such commit/);
  });

  it('are refused where the ref is not a commit, or too large a commit', async () => {
    const { repository } = scene;
    repository.commit({ 'a/SKILL.md': skillText('a') });
    const tree = repository.git(['rev-parse', 'HEAD^{tree}']);
    repository.git(['tag', 'text', keepBlob(`tree ${tree}\n`)]);
    const long = repository.git(['commit-tree', tree], 'A line.\n'.repeat(150_000));
    repository.git(['update-ref', 'refs/heads/long', long]);
    for (const ref of ['text', 'long'])
      expect((await come({ ref })).told).toMatch(/^source\.refused: .*there is no such commit/);
  });

  it('are refused where a tree has the mode of a file', async () => {
    const { repository } = scene;
    repository.commit({ 'a/SKILL.md': skillText('a') });
    const id = Buffer.from(repository.git(['rev-parse', 'HEAD:a']), 'hex');
    const rows = Buffer.concat([Buffer.from('100644 SKILL.md\0'), id]);
    commitFolder(repository.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], rows));
    const store = scene.open();
    await expect(store.list().then(async ({ items: [item] }) => item && (await store.open(item)))).rejects.toThrow(
      'it is no file: SKILL.md',
    );
  });

  it('may have a folder and SHA-256 ids', async () => {
    await scene.close();
    scene = setUpGit('--object-format=sha256');
    scene.repository.commit({ 'p/q/a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b') });
    expect((await come({ folder: 'p/q' })).skills).toEqual(['a']);
    expect((await come({ folder: 'p/r' })).told).toContain('it has no such folder');
  });

  it('may be shallow: the present commits are readable', async () => {
    const { repository, folder } = scene;
    const older = repository.commit({ 'a/SKILL.md': skillText('a') });
    const newest = repository.commit({ 'b/SKILL.md': skillText('b') });
    const url = join(folder, 'shallow');
    repository.git(['clone', '--quiet', '--bare', '--depth=1', `file://${repository.path}`, url]);
    for (const ref of [undefined, 'main', newest]) expect((await come({ url, ref })).skills).toEqual(['a', 'b']);
    expect((await come({ url, ref: older })).told).toMatch(/^source\.refused: .*it has no such commit/);
  });
});
