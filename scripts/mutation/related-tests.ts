import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { scanImports } from '../scan-imports.ts';

/** The tests that are tried for a file. After a `#` comes a part of the names of the selected tests. */
export interface RelatedTests {
  /** Whether it has a fast test of its own name. */
  quick: boolean;
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
  ['src/sandboxes/local/', ['test/attacks/namespace-ablation.test.ts', 'test/jobs/sweep.test.ts']],
  ['src/sandboxes/seccomp/', ['test/sandboxes/seccomp/denied-calls.test.ts']],
  ['src/jobs/request/orchestrator-settings', ['test/jobs/request/options.test.ts']],
  ['src/jobs/run/accept-job', ['test/jobs/run/tools.test.ts']],
  ['src/jobs/request/job-schema', ['test/jobs/request/validation.test.ts']],
  ['src/jobs/', ['test/jobs/run/programs.test.ts', 'test/jobs/events/events.test.ts']],
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

/** Never tried: they measure, need parts that a copy of the checkout lacks, or test everything at once. */
const NEVER = /^test\/(chaos|e2e|scripts|fixtures)\/|docker-|\/docker\/(kernel|other|data)/;
/** Tests that start sandboxes, servers or programs, or write many files. */
export const SLOW: RegExp = /^test\/(ai|archives|attacks|backend|cli|fidelity|jobs|library|mcp|outgoing|sandboxes)\//;
/** Code whose effects appear only inside a sandbox. */
const ONLY_IN_A_SANDBOX = /^runtime\/(?!agent\/)/;
const MOST_NEAR = 8;
const MOST_FAR = 8;

/** Finds the related tests of files, by their folders and by imports. */
export function testFinder(root: string): (file: string) => RelatedTests {
  const tests = globSync('test/**/*.test.ts', { cwd: root }).filter((test) => !NEVER.test(test));
  const distances = new Map(tests.map((test) => [test, distancesFrom(root, test)]));
  return (file) => {
    const mirrored = join('test', dirname(file).replace(/^src\//, ''));
    const name = basename(file, '.ts');
    const reached = tests
      .map((test) => ({ test, distance: rank(test, distances.get(test)?.get(file), mirrored, name) }))
      .filter(({ distance }) => distance !== undefined)
      .toSorted((a, b) => (a.distance ?? 0) - (b.distance ?? 0))
      .map(({ test }) => test);
    const through = THROUGH_PROCESSES.filter(([prefix]) => file.startsWith(prefix)).flatMap(([, list]) => list);
    const own = reached.filter((test) => basename(test).startsWith(`${name}.`) && dirname(test) === mirrored);
    const near = reached.filter((test) => !SLOW.test(test) && !own.includes(test)).slice(0, MOST_NEAR);
    const ownFast = own.filter((test) => !SLOW.test(test));
    const slow = [...own, ...through, ...reached]
      .filter((test, at, all) => all.indexOf(test) === at && !near.includes(test) && !ownFast.includes(test))
      .filter((test) => existsSync(join(root, test.replace(/#.*/, ''))))
      .slice(0, MOST_FAR);
    return {
      quick: ownFast.length > 0 && !ONLY_IN_A_SANDBOX.test(file),
      fast: [ownFast, near].filter((stage) => stage.length > 0),
      slow: slow.map((test) => [test]),
    };
  };
}

/** A test of the same name or folder comes before a test that only imports the file. */
function rank(test: string, distance: number | undefined, mirrored: string, name: string): number | undefined {
  const same = dirname(test) === mirrored;
  if (same && basename(test).startsWith(`${name}.`)) return 0;
  if (distance === undefined) return same && !mirrored.includes('docker') ? 50 : undefined;
  return distance + (same ? 0 : 2);
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

function importsOf(root: string, file: string): string[] {
  const known = cache.get(file);
  if (known !== undefined) return known;
  const found = scanImports(readFileSync(join(root, file), 'utf8'))
    .filter(({ specifier, kind }) => specifier.startsWith('.') && specifier.endsWith('.ts') && kind !== 'type')
    .map(({ specifier }) => relative(root, resolve(root, dirname(file), specifier)))
    .filter((path) => existsSync(join(root, path)));
  cache.set(file, found);
  return found;
}
