import type { BenchmarkGroup } from './benchmark-group.ts';

/** The groups of the library of skills: `npm run -s bench -- library` runs all of them. */
export const LIBRARY_GROUPS: Readonly<Record<string, () => Promise<BenchmarkGroup>>> = {
  'library.reload1000': async () => (await import('./library-reload.ts')).libraryReload,
  'library.search10k': async () => (await import('./search-speed.ts')).searchSpeed,
  'library.search.quality': async () => (await import('./search-quality.ts')).searchQuality,
};
