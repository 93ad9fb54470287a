import type { BenchmarkGroup } from './benchmark-group.ts';

/** The groups of the skill library: `npm run -s bench -- library` runs all of them. */
export const LIBRARY_GROUPS: Readonly<Record<string, () => Promise<BenchmarkGroup>>> = {
  'library.start1000': async () => (await import('./library-start.ts')).libraryStart,
  'library.reload1000': async () => (await import('./library-reload.ts')).libraryReload,
  'library.verify1000': async () => (await import('./library-verify.ts')).libraryVerify,
  'library.scan1000': async () => (await import('./library-scan.ts')).libraryScan,
  'library.git200': async () => (await import('./library-git.ts')).libraryGit,
  'library.s3': async () => (await import('./library-s3.ts')).libraryS3,
  'library.archives': async () => (await import('./library-archives.ts')).libraryArchives,
  'library.search10k': async () => (await import('./search-speed.ts')).searchSpeed,
  'library.search.quality': async () => (await import('./search-quality.ts')).searchQuality,
};
