import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../src/durable/remove-tree.ts';
import { openTreeCache } from '../src/library/stores/cache/tree-cache.ts';
import { createGitStore } from '../src/library/stores/git/git-store.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { writeSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ID = 'library.git200';
const BASELINE = 'git.git200';
const COUNT = 200;
const ROUNDS = 15;
const HEAD_FILES = /(?:^|\/)(?:SKILL\.md|tools\.yaml)$/;

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: '/dev/null',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Author',
  GIT_AUTHOR_EMAIL: 'author@example.test',
  GIT_COMMITTER_NAME: 'Author',
  GIT_COMMITTER_EMAIL: 'author@example.test',
};

/** Fetching an uncached repository of 200 skills with their heads, against the git commands that read the same bytes. */
export const libraryGit: BenchmarkGroup = { ids: [ID], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-git-'));
  const repository = join(folder, 'repository');
  const work = join(folder, 'work');
  try {
    await writeSkills(join(repository, 'skills'), COUNT);
    for (const args of [
      ['init', '--quiet', '--initial-branch=main', '--template='],
      ['add', '.'],
      ['commit', '--quiet', '--message=Skills.'],
      ['gc', '--quiet'],
    ])
      execFileSync('git', args, { cwd: repository, env: ENVIRONMENT });
    const prepare = async (): Promise<void> => removeTree(work);
    const values = await takeTurns(
      [
        { id: BASELINE, prepare, sample: timed(async () => runBare(repository, work)) },
        { id: ID, prepare, sample: timed(async () => await readHeads(repository, work)) },
      ],
      samples,
      progress,
    );
    const baseline = { id: BASELINE, values: values.get(BASELINE) ?? [] };
    return [measurementOf({ id: ID, unit: 'ms', goal: 'ratio ≤ 1.5', values: values.get(ID) ?? [], baseline })];
  } finally {
    removeTree(folder);
  }
}

function timed(work: () => Promise<number>): () => Promise<number> {
  return async () => {
    const started = performance.now();
    const count = await work();
    const taken = performance.now() - started;
    if (count !== COUNT) throw new Error(`Cannot measure ${ID}: not all skills were read, got ${count}.`);
    return taken;
  };
}

async function readHeads(repository: string, work: string): Promise<number> {
  const store = createGitStore({ url: repository, kind: 'user', cache: openTreeCache(work) });
  try {
    const { items } = await store.list();
    const heads = await Promise.all(items.map(async (item) => await store.head(item)));
    return heads.filter(({ skillFile, tools }) => skillFile.bytes.length > 0 && tools !== undefined).length;
  } finally {
    await store.close();
  }
}

/** The minimal git commands: find the branch, create an empty repository, fetch the commit, list its names, and read the files. */
function runBare(repository: string, work: string): number {
  const git = (args: readonly string[], input = ''): Buffer => {
    const { stdout, status } = spawnSync('git', args, { env: ENVIRONMENT, input, maxBuffer: 2 ** 28 });
    if (status !== 0) throw new Error(`Cannot measure ${ID}: git failed, got ${args.join(' ')}.`);
    return stdout;
  };
  const inWork = `--git-dir=${work}`;
  git(['ls-remote', '--quiet', repository, 'HEAD']);
  git(['init', '--quiet', '--bare', '--template=', work]);
  git([
    inWork,
    '-c',
    'fetch.unpackLimit=1',
    'fetch',
    '--quiet',
    '--depth=1',
    '--no-tags',
    repository,
    '+HEAD:refs/fetched',
  ]);
  const rows = git([inWork, 'ls-tree', '-r', '-t', '-l', '-z', 'refs/fetched']).toString().split('\0');
  const ids = rows.filter((row) => HEAD_FILES.test(row)).map((row) => row.split(' ')[2]);
  const printed = git([inWork, 'cat-file', '--batch'], `${ids.join('\n')}\n`);
  return printed.length > 0 ? ids.length / 2 : Number.NaN;
}
