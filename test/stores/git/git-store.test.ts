import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { openTreeCache } from '../../../src/stores/cache/tree-cache.ts';
import { createGitStore, type GitStoreOptions, type GitStore } from '../../../src/stores/git/git-store.ts';
import { describeWith, MISSING_GIT } from '../../fixtures/describe-with.ts';
import { makeRepository, type TestRepository } from '../../fixtures/git-repository.ts';
import { skillText } from '../../fixtures/source-of.ts';

let folder = '';
let repository: TestRepository;
const opened: GitStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-store-'));
});

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  // What is kept has no write permission.
  for (const name of readdirSync(folder)) removeTree(join(folder, name));
  rmSync(folder, { recursive: true });
});

function openStore(options: Partial<GitStoreOptions> = {}): GitStore {
  const store = createGitStore({
    url: repository.path,
    kind: 'user',
    cache: openTreeCache(join(folder, 'cache')),
    resolve: async () => ['127.0.0.1'],
    ...options,
  });
  opened.push(store);
  return store;
}

describeWith('git store', MISSING_GIT, () => {
  beforeEach(() => {
    repository = makeRepository(join(folder, 'repository'));
    mkdirSync(join(folder, 'cache'), { mode: 0o700 });
  });

  it('lists the skills of a commit, and opens one with every byte of it', async () => {
    const commit = repository.commit({
      'skills/units/SKILL.md': skillText('units'),
      'skills/units/scripts/run.sh': { program: 'echo hello\n' },
      'README.md': 'A text.\n',
    });
    const store = openStore();
    const { items, diagnostics } = await store.list();
    expect(diagnostics).toEqual([]);
    const tree = repository.git(['rev-parse', `${commit}:skills/units`]);
    expect(items).toEqual([
      {
        path: 'skills/units',
        revision: `${commit}:${tree}`,
        origin: { type: 'git', source: repository.path, folder: 'skills/units', commit },
        kind: 'user',
      },
    ]);
    const [item] = items;
    if (item === undefined) throw new Error('nothing was listed');
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
});
