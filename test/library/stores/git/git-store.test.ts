import { mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import type { StoreItem } from '../../../../src/contracts/skills/store.ts';
import type { GitStore, GitStoreOptions } from '../../../../src/library/stores/git/git-store.ts';
import { describeWith, MISSING_GIT } from '../../../fixtures/describe-with.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';

let scene: GitScene;

async function paths(store: GitStore): Promise<string[]> {
  return (await store.list()).items.map(({ path }) => path);
}

async function only(store: GitStore): Promise<StoreItem> {
  const { items } = await store.list();
  const [item] = items;
  if (item === undefined || items.length > 1) throw new Error(`not one skill, but ${items.length}`);
  return item;
}

async function bodyOf(store: GitStore, item: StoreItem): Promise<string> {
  const { folder } = await store.open(item);
  return readFileSync(join(folder, 'SKILL.md'), 'utf8');
}

/** Code and message of a refusal. */
async function fault(action: () => unknown): Promise<{ code: string; message: string }> {
  return await Promise.resolve()
    .then(action)
    .then(
      () => ({ code: 'none', message: '' }),
      ({ code, message }: SkillcellError) => ({ code, message }),
    );
}

describeWith('git store', MISSING_GIT, () => {
  beforeEach(() => {
    scene = setUpGit();
  });
  afterEach(async () => await scene.close());

  it('lists the skills of a commit, and opens one with all its bytes', async () => {
    const { repository } = scene;
    const commit = repository.commit({
      'skills/units/SKILL.md': skillText('units'),
      'skills/units/scripts/run.sh': { program: 'echo hello\n' },
      'README.md': 'A text.\n',
    });
    const store = scene.open();
    const { items, diagnostics } = await store.list();
    expect(diagnostics).toEqual([]);
    const tree = repository.git(['rev-parse', `${commit}:skills/units`]);
    expect(items).toEqual([
      {
        path: 'skills/units',
        revision: tree,
        origin: { type: 'git', source: repository.path, folder: 'skills/units', commit },
        kind: 'user',
      },
    ]);
    const item = await only(store);
    const head = await store.head(item);
    expect(Buffer.from(head.skillFile.bytes).toString()).toBe(skillText('units'));
    expect(head.names.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh']);
    const view = await store.open(item);
    expect(view.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['SKILL.md', false],
      ['scripts/run.sh', true],
    ]);
    expect(readFileSync(join(view.folder, 'scripts/run.sh'), 'utf8')).toBe('echo hello\n');
  });

  it('reads a repository that is itself one skill', async () => {
    scene.repository.commit({ 'SKILL.md': skillText('whole'), 'tools.yaml': 'tools: []\n' });
    const store = scene.open();
    const item = await only(store);
    expect([item.path, item.origin.folder]).toEqual(['.', '.']);
    expect(Buffer.from((await store.head(item)).tools ?? []).toString()).toBe('tools: []\n');
  });

  it.each(['main', 'refs/heads/main', undefined, 'HEAD', 'light', 'heavy', 'refs/tags/heavy', 'feature/one'])(
    'finds the commit of ref %s',
    async (ref) => {
      const { repository } = scene;
      const first = repository.commit({ 'a/SKILL.md': skillText('first') });
      repository.git(['tag', 'light']);
      repository.git(['tag', '--annotate', '--message=A tag.', 'heavy']);
      repository.git(['branch', 'feature/one']);
      repository.git(['branch', 'feature/main']);
      const last = repository.commit({ 'a/SKILL.md': skillText('last') });
      const item = await only(scene.open({ ref }));
      const isLast = ref === undefined || ['main', 'refs/heads/main', 'HEAD'].includes(ref);
      expect(item.origin.commit).toBe(isLast ? last : first);
      expect(item.origin.ref).toBe(ref);
    },
  );

  it('prefers a branch to a tag of the same name', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('tagged') });
    scene.repository.git(['tag', 'both']);
    const last = scene.repository.commit({ 'a/SKILL.md': skillText('branch') });
    scene.repository.git(['branch', 'both']);
    expect((await only(scene.open({ ref: 'both' }))).origin.commit).toBe(last);
  });

  it('reads a commit by its full id, also from the cache without the repository', async () => {
    const commit = scene.repository.commit({ 'a/SKILL.md': skillText('first') });
    scene.repository.commit({ 'a/SKILL.md': skillText('last') });
    expect((await only(scene.open({ ref: commit }))).origin.commit).toBe(commit);
    const kept = scene.open({ ref: commit });
    renameSync(scene.repository.path, `${scene.repository.path}-away`);
    mkdirSync(scene.repository.path);
    expect(await bodyOf(kept, await only(kept))).toBe(skillText('first'));
  });

  it('reads a repository with SHA-256 ids', async () => {
    await scene.close();
    scene = setUpGit('--object-format=sha256');
    const commit = scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    expect(commit).toHaveLength(64);
    for (const ref of [undefined, commit]) {
      const store = scene.open({ ref });
      expect(await bodyOf(store, await only(store))).toBe(skillText('a'));
    }
  });

  it('reads a folder of a repository, and returns skill paths from the root', async () => {
    scene.repository.commit({ 'p/q/skills/a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b') });
    for (const folder of ['p/q', './p/q/', 'p/q/skills']) {
      const item = await only(scene.open({ folder }));
      expect(item.origin.folder).toBe('p/q/skills/a');
    }
    expect((await only(scene.open({ folder: 'b' }))).path).toBe('.');
    expect(await fault(() => scene.open({ folder: '../b' }))).toMatchObject({ code: 'source.refused' });
    expect(await fault(() => scene.open({ folder: 'p/nowhere' }).list())).toMatchObject({ code: 'source.refused' });
    expect(await fault(() => scene.open({ folder: 'b/SKILL.md' }).list())).toMatchObject({ code: 'source.refused' });
  });

  it('opens a listed skill with its original bytes after the branch has moved', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('first') });
    const store = scene.open();
    const first = await only(store);
    for (const name of ['second', 'third', 'last']) {
      scene.repository.commit({ 'a/SKILL.md': skillText(name) });
      const item = await only(store);
      expect(item.revision).not.toBe(first.revision);
      expect(await bodyOf(store, item)).toBe(skillText(name));
    }
    expect(await bodyOf(store, first)).toBe(skillText('first'));
    const told = await fault(() => store.open({ ...first, revision: '0'.repeat(40) }));
    expect(told.code).toBe('store.changed');
  });

  it('gives an unchanged skill the same revision in every commit', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const before = await only(scene.open());
    const commit = scene.repository.commit({ 'README.md': 'A text.\n' });
    expect(await only(scene.open())).toEqual({ ...before, origin: { ...before.origin, commit } });
    expect(
      (await fault(() => scene.open().open({ ...before, origin: { type: 'git', source: '', folder: '' } }))).code,
    ).toBe('store.changed');
  });

  it('fetches only commits that are not in the cache', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    await paths(scene.open());
    const kept = join(scene.cacheFolder, 'git');
    const names = readdirSync(kept);
    const inode = (): number => statSync(join(kept, names[0] ?? '')).ino;
    const before = inode();
    expect(await paths(scene.open())).toEqual(['a']);
    expect([readdirSync(kept), inode()]).toEqual([names, before]);
    scene.repository.commit({ 'b/SKILL.md': skillText('b') });
    expect(await paths(scene.open())).toEqual(['a', 'b']);
    expect(readdirSync(kept)).toHaveLength(2);
  });

  it('keeps repositories in a private folder, under digests as names', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    await paths(scene.open());
    const kept = join(scene.cacheFolder, 'git');
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    expect(readdirSync(kept)[0]).toMatch(/^[0-9a-f]{32}-[0-9a-f]{40}$/);
  });

  it('fetches one commit for many stores at once, and leaves nothing incomplete', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const stores = Array.from({ length: 8 }, () => scene.open());
    const bodies = await Promise.all(stores.map(async (store) => await bodyOf(store, await only(store))));
    expect(new Set(bodies)).toEqual(new Set([skillText('a')]));
    expect(readdirSync(join(scene.cacheFolder, 'git'))).toHaveLength(1);
  });

  it('removes an incomplete repository of a dead process', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const torn = join(scene.cacheFolder, 'git', `.${'0'.repeat(12)}-1-1-1-${'a'.repeat(16)}.part`);
    mkdirSync(torn, { recursive: true });
    await paths(scene.open());
    expect(readdirSync(join(scene.cacheFolder, 'git')).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('is unavailable where the repository is gone, and opens kept skills', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const store = scene.open();
    const item = await only(store);
    renameSync(scene.repository.path, `${scene.repository.path}-away`);
    expect(await fault(() => store.list())).toMatchObject({ code: 'store.unavailable' });
    expect(await bodyOf(store, item)).toBe(skillText('a'));
    mkdirSync(scene.repository.path);
    expect((await fault(() => store.list())).code).toBe('store.unavailable');
  });

  it('refuses a repository without a commit, or without the branch', async () => {
    expect((await fault(() => scene.open().list())).code).toBe('source.refused');
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const { code, message } = await fault(() => scene.open({ ref: 'nowhere' }).list());
    expect([code, message]).toEqual([
      'source.refused',
      `Cannot read the repository ${scene.repository.path}: it has no branch or tag "nowhere".`,
    ]);
    const blob = scene.repository.git(['rev-parse', 'HEAD:a/SKILL.md']);
    scene.repository.git(['tag', 'blob', blob]);
    expect((await fault(() => scene.open({ ref: 'blob' }).list())).code).toMatch(
      /^(source\.refused|store\.unavailable)$/,
    );
  });

  it('returns the plugin of a skill, and the places of plugins in other repositories', async () => {
    scene.repository.commit({
      'p/skills/a/SKILL.md': skillText('a'),
      '.claude-plugin/marketplace.json': JSON.stringify({
        plugins: [
          { name: 'press', source: './p' },
          { name: 'far', source: { source: 'github', repo: 'owner/name' } },
        ],
      }),
    });
    const store = scene.open();
    expect((await only(store)).origin.plugin).toBe('press');
    const { elsewhere, commit } = await store.contents();
    expect(elsewhere).toEqual([{ plugin: 'far', url: 'https://github.com/owner/name.git', folder: '.', strict: true }]);
    expect(commit).toBe((await only(store)).origin.commit);
  });

  it('takes nested skills on request', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/b/SKILL.md': skillText('b') });
    expect(await paths(scene.open())).toEqual(['a']);
    expect(await paths(scene.open({ nested: true }))).toEqual(['a', 'a/b']);
  });

  it('stops on the signal of a call, and when it is closed', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const store = scene.open();
    const reason = new Error('no longer wanted');
    await expect(store.list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const listing = store.list({ signal: controller.signal });
    controller.abort(reason);
    await expect(listing).rejects.toBe(reason);
    const item = await only(store);
    await store.close();
    expect((await fault(() => store.open(item))).code).toBe('store.unavailable');
    expect((await fault(() => store.list())).code).toBe('store.unavailable');
  });

  it('reads many files at once, some with newlines in their content and some empty', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`a/${index}.txt`, '\n'.repeat(index) + 'x'.repeat(index * 37)]),
    );
    scene.repository.commit({ 'a/SKILL.md': skillText('a'), ...files });
    const store = scene.open();
    const { folder } = await store.open(await only(store));
    for (const [path, text] of Object.entries(files))
      expect(readFileSync(join(folder, path.slice(2)), 'utf8')).toBe(text);
  });

  it.each<[string, string, GitStoreOptions['protocols']?]>([
    ['http', 'http://git.test/a.git'],
    ['git', 'git://git.test/a.git'],
    ['ssh', 'ssh://git.test/a.git'],
    ['scp', 'git@git.test:a.git'],
    ['ssh as an option', 'ssh://-oProxyCommand=id/a'],
    ['a program', 'ext::sh -c id'],
    ['a helper', 'fd::17'],
    ['a file as an address', 'file:///etc'],
    ['an option', '--upload-pack=id'],
    ['a relative path', 'a/b'],
    ['nothing', ''],
    ['a control character', 'https://git.test/a\u0007.git'],
    ['a newline', 'https://git.test/a\n.git'],
    ['a query', 'https://git.test/a.git?x=1'],
    ['a fragment', 'https://git.test/a.git#main'],
    ['no host', 'git:///a.git', ['git']],
    ['a host like an option', 'git://-oProxyCommand/a.git', ['git']],
    ['a scheme without its slashes', 'https:git.test/a.git'],
    ['too long a text', `https://git.test/${'a'.repeat(2_000)}`],
  ])('refuses %s as an address', async (_, url, protocols?) => {
    expect((await fault(() => scene.open({ url, protocols }))).code).toBe('source.refused');
  });

  it.each([
    'https://user:s3cret@git.test/a.git',
    'https://s3cret@git.test/a.git',
    'https://:s3cret@git.test/a.git',
    'https://user:s3cret@git.test:bad/a.git',
    'user:s3cret@git.test:a.git',
    'https://git.test/a.git?token=s3cret',
    'https://git.test/a.git#s3cret',
    'http://user:s3cret@git.test/a.git',
  ])('refuses an address with a credential, without repeating it: %s', async (url) => {
    const { code, message } = await fault(() => scene.open({ url }));
    expect(code).toBe('source.refused');
    expect(message).not.toContain('s3cret');
  });

  it.each([
    '',
    '-',
    '--upload-pack=id',
    '-main',
    'a..b',
    '../main',
    '/main',
    'main/',
    'a//b',
    'main.',
    'a.lock',
    '.hidden',
    'a/.b',
    'a b',
    'a~1',
    'a^{}',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    '@',
    'a@{1}',
    'a\nb',
    'a\u0000b',
    'x'.repeat(256),
  ])('refuses %j as a ref', async (ref) => {
    expect((await fault(() => scene.open({ ref }))).code).toBe('source.refused');
  });
});
