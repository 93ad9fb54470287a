import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canContain, contained } from '../../scripts/mutation/contain.ts';
import { listSources, MUTATED, sampleOf, type Mutant } from '../../scripts/mutation/list-mutants.ts';
import { testFinder } from '../../scripts/mutation/related-tests.ts';
import { seedOfWeek } from '../../scripts/mutation/seed-of-week.ts';
import { requireHere } from '../fixtures/describe-with.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

describe('the seed of a week', () => {
  it.each([
    ['2026-11-23T00:00:00Z', '2026-W48'],
    ['2026-11-29T23:59:59Z', '2026-W48'],
    ['2026-11-30T00:00:00Z', '2026-W49'],
    ['2027-01-01T12:00:00Z', '2026-W53'],
    ['2024-12-30T12:00:00Z', '2025-W01'],
    ['2026-01-01T00:00:00Z', '2026-W01'],
  ])('at %s is %s', (time, expected) => {
    expect(seedOfWeek(new Date(time))).toBe(expected);
  });
});

it('a sample is the same for the same seed, and another for another one', () => {
  const mutant = { file: 'a.ts', line: 1, start: 0, end: 1, mutator: 'm', original: 'a', replacement: 'b' };
  const all: Mutant[] = Array.from({ length: 100 }, (_, nth) => ({ ...mutant, nth }));
  const numbers = (seed: string): number[] => sampleOf(all, seed, 10).map(({ nth }) => nth);
  expect(numbers('2026-W48')).toEqual(numbers('2026-W48'));
  expect(numbers('2026-W48')).toHaveLength(10);
  expect(numbers('2026-W49')).not.toEqual(numbers('2026-W48'));
});

describe('mutated sources', () => {
  const related = testFinder(root);

  it.each(['src/jobs', 'src/sandboxes/docker', 'src/library', 'runtime'])('contain those of %s', (folder) => {
    const sources = new Set(listSources(root, MUTATED));
    const below = listSources(root, [folder]);
    expect(below.length).toBeGreaterThan(10);
    expect(below.filter((file) => !sources.has(file))).toEqual([]);
  });

  it.each([
    ['src/jobs/create-logger.ts', 'test/jobs/create-logger.test.ts'],
    ['src/jobs/journal/job-journal.ts', 'test/jobs/journal/job-journal.test.ts'],
    // The test of the same name lies in the folder above.
    ['src/sandboxes/docker/engine/engine-address.ts', 'test/sandboxes/docker/engine-address.test.ts'],
    // Only a program that the test starts imports it.
    ['src/sandboxes/docker/engine/docker-context.ts', 'test/cli/docker-host.test.ts'],
    ['src/jobs/create-orchestrator.ts', 'test/jobs/supply/concurrency.test.ts'],
    // The host of the spans is a program of its own.
    ['src/jobs/session/host-run.ts', 'test/jobs/tracing/spans.test.ts'],
    ['src/library/stores/git/git-remote.ts', 'test/library/stores/git/hostile-repository.test.ts'],
    ['src/library/trust/choose-sources.ts', 'test/cli/commands/skills-sources.test.ts'],
    ['src/library/heads/kept-lists.ts', 'test/library/kept-lists.test.ts'],
  ])('%s is tried by %s', (file, test) => {
    const { fast, slow } = related(file);
    expect([...fast, ...slow].flat()).toContain(test);
  });
});

describe('a contained program', () => {
  /** Prints whether an engine answers at the default address. */
  const ask = `require('node:net').connect('/var/run/docker.sock')
    .on('connect', () => { console.log('answers'); process.exit(); }).on('error', ({ code }) => console.log(code));`;
  const heard = (tree: string, engine: string | undefined): string => {
    const [program = '', ...words] = contained({ tree, root, engine }, [process.execPath, '-e', ask]);
    return spawnSync(program, words, { encoding: 'utf8' }).stdout.trim();
  };

  it('reaches its own engine, and not the engine of the machine', async (context) => {
    requireHere(context, canContain() ? undefined : 'the right to create namespaces');
    requireHere(context, existsSync('/var/run/docker.sock') ? undefined : '/var/run/docker.sock');
    const folder = mkdtempSync(join(tmpdir(), 'own-socket-'));
    const server = createServer().listen(join(folder, 'engine.sock'));
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    expect(heard(folder, undefined)).toBe('ECONNREFUSED');
    expect(heard(folder, join(folder, 'engine.sock'))).toBe('answers');
  });
});
