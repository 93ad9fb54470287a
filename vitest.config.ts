import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { filesOf, suitePart } from './scripts/suite-parts.ts';

/**
 * One file after the other, after everything else: they try what happens to an engine or a host as a whole, or hold how long something takes
 * by a clock that shows nothing beside other work.
 */
const SERIAL = [
  'test/chaos/**/*.test.ts',
  'test/runners/docker/{engine-faults,image}.test.ts',
  // What is swept in them, an orchestrator of another file might sweep first.
  'test/attacks/{docker-life,f-lifecycle}.test.ts',
  'test/orchestrator/{artifacts,sweep}.test.ts',
];

/**
 * Files that leave their process as they found it, so that the next one goes on in it: to start a process and load the sources anew takes longer than
 * most of their tests.
 */
const ONE_AFTER_ANOTHER = [
  'test/{archives,authoring,broker,conformance,content,contracts,decision,durable,evals,mutation,outgoing,protocol,scan,scripts,skills}/**',
  'test/stores/{folder,mcp,web}/**',
  'test/{ai,cli,library,runtime}/**',
  'test/mcp/client/**',
];
/** Files among them that measure the memory of their own process, or look at what a whole process has. */
const ALONE = [
  'test/broker/tool-schema/{hostile-schemas,zod-schema}.test.ts',
  'test/protocol/{add-piece,writer-fairness}.test.ts',
];

const quick = new Set(filesOf('quick', fileURLToPath(new URL('.', import.meta.url))));
const files = filesOf(suitePart(), fileURLToPath(new URL('.', import.meta.url)));
const isOneOf = (patterns: readonly string[], file: string): boolean =>
  patterns.some((pattern) => matchesGlob(file, pattern));
const isSerial = (file: string): boolean => isOneOf(SERIAL, file);
const sharesProcess = (file: string): boolean =>
  quick.has(file) && isOneOf(ONE_AFTER_ANOTHER, file) && !isOneOf(ALONE, file);
/** A test that waits leaves its processor to another one, and most of them wait half of their time. */
const maxWorkers = availableParallelism() + 2;

export default defineConfig({
  test: {
    reporters: ['default', './scripts/opening-line-reporter.ts', './scripts/closing-line-reporter.ts'],
    setupFiles: ['test/setup.ts'],
    expect: { requireAssertions: true },
    // For what never ends: no test is to fail because its machine has other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'parallel',
          include: files.filter((file) => !isSerial(file) && !sharesProcess(file)),
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: files.filter((file) => !isSerial(file) && sharesProcess(file)),
          isolate: false,
          maxWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'serial',
          include: files.filter(isSerial),
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
