import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// These start sandboxes, servers or npm and measure time: one file after the other, after everything else.
const SERIAL = ['test/{ai,attacks,chaos,cli,e2e,mcp,orchestrator}/**/*.test.ts', 'test/runners/**/*.test.ts'];

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
          // vitest alone would leave one of two cores idle.
          maxWorkers: Math.max(2, availableParallelism() - 1),
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
