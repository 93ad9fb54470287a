import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { scanImports } from '../scan-imports.ts';

/** The tests that are tried for a file. After a `#` comes a part of the names of the selected tests. */
export interface RelatedTests {
  /** Groups of tests that run together, the nearest first; a later group runs only if the earlier ones notice nothing. */
  fast: string[][];
  /** Tests that start sandboxes, servers or programs; they run last. */
  slow: string[][];
}

/**
 * Tests that reach a folder through another process, which imports do not show. Code inside a sandbox is tried at levels none and namespace, because
 * an image has another copy of it.
 */
const THROUGH_PROCESSES: readonly (readonly [prefix: string, tests: readonly string[]])[] = [
  ['src/sandboxes/docker/engine/', ['test/cli/docker-host.test.ts']],
  ['src/sandboxes/docker/', ['test/sandboxes/docker/runner-contract.test.ts']],
  ['src/sandboxes/local/', ['test/attacks/namespace-ablation.test.ts', 'test/jobs/sweep.test.ts']],
  ['src/sandboxes/seccomp/', ['test/sandboxes/seccomp/denied-calls.test.ts']],
  ['src/jobs/request/orchestrator-settings', ['test/jobs/request/options.test.ts']],
  ['src/jobs/create-orchestrator', ['test/jobs/supply/concurrency.test.ts', 'test/jobs/supply/pool.test.ts']],
  [
    'src/jobs/run/accept-job',
    ['test/jobs/run/tools.test.ts', 'test/jobs/journal/job-journal.test.ts', 'test/jobs/request/validation.test.ts'],
  ],
  ['src/jobs/run/program-runs', ['test/jobs/tracing/spans.test.ts']],
  ['src/jobs/request/job-schema', ['test/jobs/request/validation.test.ts']],
  ['src/jobs/request/output-schema', ['test/jobs/generate/generate.test.ts']],
  ['src/jobs/result/', ['test/jobs/run/budget.test.ts']],
  ['src/jobs/session/', ['test/jobs/session/session.test.ts', 'test/jobs/tracing/spans.test.ts']],
  ['src/jobs/tracing/', ['test/jobs/tracing/spans.test.ts']],
  ['src/jobs/', ['test/jobs/run/programs.test.ts', 'test/jobs/events/events.test.ts']],
  ['src/library/lock/', ['test/library/install/foreign-lock.test.ts']],
  ['src/library/trust/', ['test/cli/commands/skills-sources.test.ts']],
  ['src/models/', ['test/jobs/run/tools.test.ts']],
  ['src/tools/', ['test/jobs/run/tools.test.ts']],
  ['runtime/agent/', ['test/cli/commands/codegen.test.ts']],
  ['runtime/serve/', ['test/e2e/codegen.test.ts#at level none']],
  ['runtime/rehearse/', ['test/jobs/supply/pool.test.ts']],
  ['runtime/run/memory', ['test/jobs/run/memory.test.ts#at level n']],
  ['runtime/files/', ['test/jobs/result/artifacts.test.ts', 'test/attacks/d-artifacts.test.ts#[none]']],
  ['runtime/', ['test/jobs/run/programs.test.ts', 'test/jobs/run/tools.test.ts', 'test/jobs/skills-in-jobs.test.ts']],
  ['runtime/run/', ['test/attacks/b-limits.test.ts#[none]', 'test/attacks/e-channel.test.ts#[none]']],
  ['runtime/sandbox/', ['test/attacks/b-limits.test.ts#[namespace]']],
];

/** Never tried: they measure, need parts that a copy of the checkout lacks, take minutes, or test everything at once. */
const NEVER =
  /^test\/(chaos|e2e|scripts|fixtures)\/|\/docker\/(kernel|other|data)|\/(docker-life|kill-points|random-edits)\./;
/** Tests that start sandboxes, servers or programs, or write many files. */
export const SLOW: RegExp =
  /^test\/(ai|archives|attacks|backend|cli|fidelity|fuzz|jobs|library|mcp|outgoing|sandboxes)\//;
const MOST_NEAR = 8;
/** A fast test of another folder that is farther away than this notices nothing but a broken import. */
const FARTHEST_NEAR = 8;
/** Number of slow tests that are tried before the tests of {@link THROUGH_PROCESSES}, and of all. */
const NEAREST_SLOW = 3;
const MOST_SLOW = 10;
/** A test that the imports do not show, in the folder of the file. */
const UNSEEN = 50;
/** A folder between a test and a file counts as much as two imports. */
const FOLDER = 2;

/** Finds the related tests of files, by their folders and by imports. */
export function testFinder(root: string): (file: string) => RelatedTests {
  const tests = globSync('test/**/*.test.ts', { cwd: root }).filter((test) => !NEVER.test(test));
  const distances = new Map(tests.map((test) => [test, distancesFrom(root, test)]));
  return (file) => {
    const mirrored = join('test', dirname(file).replace(/^src\//, ''));
    const isOwn = (test: string): boolean =>
      basename(test).startsWith(`${basename(file, '.ts')}.`) && `${mirrored}/`.startsWith(`${dirname(test)}/`);
    const reached = tests
      .map((test) => ({ test, rank: isOwn(test) ? 0 : rank(test, distances.get(test)?.get(file), mirrored) }))
      .filter((row): row is { test: string; rank: number } => row.rank !== undefined)
      .toSorted((one, other) => one.rank - other.rank);
    const slowest = reached.filter(({ test }) => SLOW.test(test)).map(({ test }) => test);
    const fast = reached.filter((row) => !SLOW.test(row.test) && row.rank <= FARTHEST_NEAR).map(({ test }) => test);
    const through = THROUGH_PROCESSES.filter(([prefix]) => file.startsWith(prefix)).flatMap(([, list]) => list);
    const near = fast.filter((test) => !isOwn(test)).slice(0, MOST_NEAR);
    const firstSlow = slowest.filter((test, at) => isOwn(test) || at < NEAREST_SLOW);
    return {
      fast: [fast.filter(isOwn), near].filter((stage) => stage.length > 0),
      slow: [...new Set([...firstSlow, ...through, ...slowest])]
        .filter((test) => existsSync(join(root, test.replace(/#.*/, ''))))
        .slice(0, MOST_SLOW)
        .map((test) => [test]),
    };
  };
}

/** A test in the folder of the file, or in a folder above it, comes before a test of another folder with as many imports. */
function rank(test: string, distance: number | undefined, mirrored: string): number | undefined {
  const folders = relative(dirname(test), mirrored)
    .split('/')
    .filter((name) => name !== '').length;
  if (distance !== undefined) return distance + FOLDER * folders;
  return folders === 0 ? UNSEEN : undefined;
}

/** The number of imports between a test and each file that it reaches. */
function distancesFrom(root: string, test: string): Map<string, number> {
  const found = new Map<string, number>([[test, 0]]);
  for (const [file, distance] of found) {
    for (const next of importsOf(root, file)) if (!found.has(next)) found.set(next, distance + 1);
  }
  return found;
}

const cache = new Map<string, string[]>();

/** The address of a program that a file starts, relative to the file. */
const PROGRAM = /(?<quote>['"`])(?<path>\.{1,2}\/[^'"`\n]+\.(?:ts|js))\k<quote>/g;

/** The files that a file imports, and the programs that it starts. */
function importsOf(root: string, file: string): string[] {
  const known = cache.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), 'utf8');
  const imports = scanImports(text);
  const specifiers = new Set(imports.map(({ specifier }) => specifier));
  const programs = [...text.matchAll(PROGRAM)].map(({ groups }) => groups?.['path'] ?? '');
  const found = [
    ...imports.filter(({ kind }) => kind !== 'type').map(({ specifier }) => specifier),
    ...programs.filter((path) => !specifiers.has(path)),
  ]
    .filter((path) => path.startsWith('.') && /\.(ts|js)$/.test(path))
    .map((path) => relative(root, resolve(root, dirname(file), path)))
    .filter((path) => existsSync(join(root, path)));
  cache.set(file, found);
  return found;
}
