import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

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
          include: ['test/**/*.test.ts'],
          exclude: SERIAL,
          // A test that waits leaves its processor to another one.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'serial',
          include: SERIAL,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
