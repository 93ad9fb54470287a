import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { readGitAddress } from '../../../../src/library/stores/git/git-address.ts';
import { GIT_LIMITS } from '../../../../src/library/stores/git/git-limits.ts';
import { fetchRemote } from '../../../../src/library/stores/git/git-remote.ts';
import type { GitStoreOptions } from '../../../../src/library/stores/git/git-store.ts';
import { describeWith, MISSING_GIT, MISSING_STRACE } from '../../../fixtures/describe-with.ts';
import { prepareEvilGit } from '../../../fixtures/evil-git.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';

const run = promisify(execFile);
const HOST = join(import.meta.dirname, '../../../fixtures/git-host.ts');
const ATTRIBUTES = '* filter=evil diff=evil merge=evil ident export-subst eol=crlf text working-tree-encoding=UTF-16\n';

let scene: GitScene;

/** Paths of skills and codes of diagnostics, or the refusal of the whole source. */
async function come(
  options: Partial<GitStoreOptions> = {},
): Promise<{ skills: string[]; codes: string[]; refused?: string }> {
  return await scene
    .open(options)
    .list()
    .then(
      ({ items, diagnostics }) => ({
        skills: items.map(({ path }) => path),
        codes: diagnostics.map(({ code, path }) => `${code} ${path ?? ''}`),
      }),
      ({ code, message }: SkillcellError) => ({ skills: [], codes: [], refused: `${code}: ${message}` }),
    );
}

/** Commits a tree of raw bytes, which git itself would not make. */
function commitTree(rows: readonly [mode: string, name: string, id: string][]): void {
  const { repository } = scene;
  const bytes = Buffer.concat(
    rows.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  const tree = repository.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], bytes);
  repository.git(['update-ref', 'refs/heads/main', repository.git(['commit-tree', '-m', 'A commit.', tree])]);
}

describeWith('git store', MISSING_GIT, () => {
  beforeEach(() => {
    scene = setUpGit();
  });
  afterEach(async () => await scene.close());

  describe('hostile repositories', () => {
    it('give bytes as committed, despite any attributes', async () => {
      const texts = {
        'a/SKILL.md': skillText('a'),
        'a/id.txt': '$Id$ $Format:%H$\r\nline\n',
        'a/bytes.txt': 'é\u0000x\n',
      };
      for (const [path, text] of Object.entries(texts)) scene.repository.stage('100644', path, text);
      scene.repository.stage('100644', '.gitattributes', ATTRIBUTES);
      scene.repository.stage('100644', 'a/.gitattributes', ATTRIBUTES);
      scene.repository.commit({});
      const store = scene.open();
      const [item] = (await store.list()).items;
      if (item === undefined) throw new Error('nothing was listed');
      const { folder } = await store.open(item);
      for (const [path, text] of Object.entries(texts))
        expect(readFileSync(join(folder, path.slice(2)), 'utf8')).toBe(text);
    });

    it('have links and submodules reported, never fetched or followed', async () => {
      const { repository } = scene;
      const other = repository.commit({ 'a/SKILL.md': skillText('a') });
      repository.stage('120000', 'a/passwd', '/etc/passwd');
      repository.stage('120000', 'b/SKILL.md', '../a/SKILL.md');
      repository.stage('120000', 'linked', 'a');
      repository.stage('160000', 'a/module', other);
      repository.stage('160000', 'module', other);
      repository.commit({
        '.gitmodules': '[submodule "module"]\n\tpath = module\n\turl = ext::sh -c id\n\tupdate = !id\n',
      });
      expect(await come()).toEqual({
        skills: ['a'],
        codes: [
          'skill.link linked',
          'source.submodule module',
          'skill.link b/SKILL.md',
          'skill.link a/passwd',
          'source.submodule a/module',
        ],
      });
    });

    it('lose names that would leave the folder, act on the host, or collide', async () => {
      const blob = scene.repository.git(['hash-object', '-w', '--stdin'], skillText('a'));
      const inner = scene.repository.git(['mktree'], `100644 blob ${blob}\tSKILL.md\n100644 blob ${blob}\tconfig\n`);
      commitTree([
        ['40000', '..', inner],
        ['40000', '.GIT', inner],
        ['40000', '.git', inner],
        ['100644', 'SKILL.md', blob],
        ['100644', 'SKILL.md', blob],
        ['100644', 'a/b', blob],
        ['100644', 'a\\b', blob],
        ['100644', 'git~1', blob],
      ]);
      const store = scene.open();
      const { items, diagnostics } = await store.list();
      const [item] = items;
      if (item === undefined) throw new Error('nothing was listed');
      // A slash in a name looks like a folder, and is as harmless.
      expect((await store.open(item)).files.map(({ path }) => path)).toEqual(['SKILL.md', 'a/b']);
      const told = diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n');
      for (const name of ['"../SKILL.md"', '.GIT', '.git', '"SKILL.md" (a second file', 'a\\\\b', 'git~1'])
        expect(told).toContain(name);
    });

    it('lose names that are not UTF-8', async () => {
      scene.repository.commit({ 'a/SKILL.md': skillText('a') });
      const tree = scene.repository.git(['rev-parse', 'HEAD:a']);
      const blob = scene.repository.git(['rev-parse', 'HEAD:a/SKILL.md']);
      const bytes = Buffer.concat([
        Buffer.from('40000 a\0'),
        Buffer.from(tree, 'hex'),
        Buffer.from('100644 b\0'.replace('b', '\u00ff'), 'latin1'),
        Buffer.from(blob, 'hex'),
      ]);
      const whole = scene.repository.git(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], bytes);
      scene.repository.git(['update-ref', 'refs/heads/main', scene.repository.git(['commit-tree', '-m', 'x', whole])]);
      expect(await come()).toEqual({ skills: ['a'], codes: ['skill.path \ufffd'] });
    });

    it('have pointers of Git LFS reported, without a fetch of their content', async () => {
      const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
      scene.repository.stage('100644', '.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
      scene.repository.stage('100644', '.lfsconfig', '[lfs]\n\turl = https://evil.test/\n');
      scene.repository.stage('100644', 'a/SKILL.md', skillText('a'));
      scene.repository.stage('100644', 'a/model.bin', pointer);
      scene.repository.commit({});
      expect(await come()).toEqual({ skills: ['a'], codes: ['source.lfs a/model.bin'] });
    });

    it('cannot pass options through names of branches and tags', async () => {
      const { repository } = scene;
      const commit = repository.commit({ 'a/SKILL.md': skillText('a') });
      for (const name of ['--upload-pack=id', '-c', '--exec=id']) {
        const path = `refs/heads/${name}`;
        repository.git(['update-ref', path, commit]);
        expect((await come({ ref: path })).skills).toEqual(['a']);
      }
    });

    it('are refused over the limit of bytes, and leave nothing', async () => {
      scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/large.bin': randomBytes(3 * 1024 * 1024) });
      const { refused } = await come({ limits: { bytes: 1024 * 1024 } });
      expect(refused).toMatch(/^source\.refused: .*over the limit of 1048576 bytes/);
      expect(readdirSync(join(scene.cacheFolder, 'git'))).toEqual([]);
      expect((await come()).skills).toEqual(['a']);
    });

    it('may have exactly the limit of bytes, and not one more', async () => {
      scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/x': randomBytes(5_000) });
      expect((await come()).skills).toEqual(['a']);
      const kept = join(scene.cacheFolder, 'git');
      const packs = join(kept, readdirSync(kept)[0] ?? '', 'objects', 'pack');
      const pack = readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '';
      const bytes = statSync(join(packs, pack)).size;
      removeTree(kept);
      expect((await come({ limits: { bytes: bytes - 1 } })).refused).toContain(`over the limit of ${bytes - 1} bytes`);
      expect((await come({ limits: { bytes } })).skills).toEqual(['a']);
    });

    it('are stopped by the system during a write over the limit', async () => {
      scene.repository.commit({ 'a/large.bin': randomBytes(3 * 1024 * 1024) });
      const limits = { ...GIT_LIMITS, bytes: 1024 * 1024 };
      const aside = join(scene.folder, 'aside');
      await run('git', ['init', '--quiet', '--bare', '--template=', aside]);
      const remote = {
        address: readGitAddress(scene.repository.path, []),
        limits,
        allowPrivate: [],
        caFile: undefined,
        token: undefined,
        resolve: async () => [],
      };
      const ref = { commit: scene.repository.git(['rev-parse', 'HEAD']), fetched: 'refs/heads/main' };
      await expect(fetchRemote(remote, ref, aside, 'refs/fetched', undefined)).rejects.toMatchObject({
        code: 'source.refused',
      });
      const packs = join(aside, 'objects', 'pack');
      const sizes = readdirSync(packs).map((name) => statSync(join(packs, name)).size);
      expect(Math.max(...sizes)).toBe(limits.bytes);
    });

    it('are refused over the limit of objects', async () => {
      const many = Array.from({ length: 300 }, (_, index): [string, string] => [`a/${index}`, `${index}`]);
      scene.repository.commit({ 'a/SKILL.md': skillText('a'), ...Object.fromEntries(many) });
      const { refused } = await come({ limits: { objects: 200 } });
      expect(refused).toMatch(/^source\.refused: .*over the limit of 200 objects/);
      expect(readdirSync(join(scene.cacheFolder, 'git'))).toEqual([]);
    });

    it('lose a skill with a file that is small in its pack, but over the limit of skills', async () => {
      const path = join(scene.repository.path, 'zeros');
      writeFileSync(path, '');
      truncateSync(path, 300 * 1024 * 1024);
      const id = scene.repository.git(['hash-object', '-w', '--no-filters', '--', 'zeros']);
      scene.repository.git(['update-index', '--add', '--cacheinfo', `100644,${id},a/zeros`]);
      scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b') });
      expect(await come()).toEqual({ skills: ['b'], codes: ['skill.too-large a'] });
    });

    it('must be a folder: a bundle file is refused', async () => {
      const inside = join(scene.folder, 'bundle');
      scene.repository.commit({ 'a/SKILL.md': skillText('a') });
      scene.repository.git(['bundle', 'create', inside, 'main']);
      expect(() => scene.open({ url: inside })).toThrow('there is no folder');
    });
  });
});

describeWith('git store', MISSING_GIT ?? MISSING_STRACE, () => {
  it('runs no hook, filter or helper, and only programs of git', async () => {
    scene = setUpGit();
    try {
      const { repository, folder } = scene;
      const other = repository.commit({ 'a/SKILL.md': skillText('a') });
      repository.stage('160000', 'module', other);
      repository.stage('100644', '.gitmodules', '[submodule "module"]\n\tpath = module\n\turl = ext::sh -c id\n');
      repository.stage('100644', '.gitattributes', '* filter=evil diff=evil\n');
      repository.commit({});
      const evil = prepareEvilGit(join(folder, 'evil'));
      const trace = join(folder, 'trace');
      const { stdout } = await run('strace', ['-f', '-qq', '-e', 'trace=execve', '-o', trace, process.execPath, HOST], {
        env: {
          ...process.env,
          ...evil.env,
          GIT_HOST: JSON.stringify({ url: repository.path, cache: scene.cacheFolder }),
        },
      });
      expect(stdout).toMatch(/^a sha256:[0-9a-f]{64}\nsource\.submodule module\n$/);
      const programs = readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => line.endsWith(' = 0'))
        .map((line) => /execve\("([^"]+)"/.exec(line)?.[1] ?? '')
        .map((path) => path.slice(path.lastIndexOf('/') + 1));
      expect([...new Set(programs)].toSorted()).toEqual(
        ['git', 'git-upload-pack', 'node', 'sh'].filter((name) => programs.includes(name)),
      );
      expect(programs).toContain('git');
      expect(evil.hasRun()).toBe(false);
      // The control: with the same variables, git itself runs them.
      await run('git', ['clone', '--quiet', repository.path, join(folder, 'clone')], {
        env: { ...process.env, ...evil.env },
      }).catch(() => undefined);
      expect(evil.hasRun()).toBe(true);
    } finally {
      await scene.close();
    }
  });
});
