import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { filesByFleet, filesOf, suitePart } from './scripts/suite-parts.ts';

/**
 * Files that run one after the other, before all other files: they test an engine or a host as a whole, or assert durations that other work
 * would change.
 */
const SERIAL = [
  'test/chaos/{chaos,interrupted-cli}.test.ts',
  'test/sandboxes/docker/{engine-faults,image}.test.ts',
  // An orchestrator of another file could sweep the leftovers of these tests first.
  'test/attacks/{docker-life,f-lifecycle}.test.ts',
  'test/jobs/{result/artifacts,sweep}.test.ts',
];

/**
 * Files that do not change their process, so that the next file runs in the same one: the start of a process and the load of the sources take
 * longer than most of the tests. A file that `npm test` leaves out has a process of its own.
 */
const ONE_AFTER_ANOTHER = [
  'test/{archives,authoring,conformance,content,contracts,durable,evals,models,mutation,outgoing,protocol,scan,scripts,skills,tools}/**',
  'test/library/*.test.ts',
  'test/library/{install,lock,search,sources,trust}/**',
  'test/library/stores/{directory,mcp,web}/**',
  'test/{ai,cli,runtime}/**',
  'test/mcp/client/**',
];
/** Files among them that measure the memory of their own process, or look at the modules that it has loaded. */
const ALONE = [
  'test/tools/schema/{hostile-schemas,zod-schema}.test.ts',
  'test/protocol/{add-piece,writer-fairness}.test.ts',
  'test/skills/load/many-skills.test.ts',
];

const root = fileURLToPath(new URL('.', import.meta.url));
const quick = new Set(filesOf('quick', root));
const files = filesOf(suitePart(), root);
const isOneOf = (patterns: readonly string[], file: string): boolean =>
  patterns.some((pattern) => matchesGlob(file, pattern));
const isSerial = (file: string): boolean => isOneOf(SERIAL, file);
const sharesProcess = (file: string): boolean =>
  quick.has(file) && isOneOf(ONE_AFTER_ANOTHER, file) && !isOneOf(ALONE, file);
/** A test that waits leaves its processor to another test, and most tests wait half of their time. */
const maxWorkers = availableParallelism() + 2;

export default defineConfig({
  test: {
    reporters: ['default', './scripts/opening-line-reporter.ts', './scripts/closing-line-reporter.ts'],
    setupFiles: ['test/setup.ts'],
    runner: 'test/timed-runner.ts',
    expect: { requireAssertions: true },
    // Ends tests that never end by themselves. Other work on the machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parallel',
          include: files.filter((file) => !isSerial(file) && !sharesProcess(file)),
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: files.filter((file) => !isSerial(file) && sharesProcess(file)),
          isolate: false,
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'fleet',
          include: filesByFleet(suitePart(), root),
          env: { SKILLCELL_TESTS_BY: 'fleet' },
          maxWorkers,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'serial',
          include: files.filter(isSerial),
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
