import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// These start sandboxes, servers or npm and measure time: one file after the other, after everything else.
const SERIAL = ['test/{attacks,chaos,cli,e2e,orchestrator}/**/*.test.ts', 'test/runners/**/*.test.ts'];

export default defineConfig({
  test: {
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
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
          // Deadlines and processor shares meet a machine that does other work as well; a real fault fails twice.
          retry: process.env['CI'] === 'true' ? 1 : 0,
        },
      },
    ],
  },
});
