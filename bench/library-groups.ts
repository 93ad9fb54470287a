import type { BenchmarkGroup } from './benchmark-group.ts';

/** The groups of the library of skills: `npm run -s bench -- library` runs all of them. */
export const LIBRARY_GROUPS: Readonly<Record<string, () => Promise<BenchmarkGroup>>> = {
  'library.start1000': async () => (await import('./library-start.ts')).libraryStart,
  'library.reload1000': async () => (await import('./library-reload.ts')).libraryReload,
};
