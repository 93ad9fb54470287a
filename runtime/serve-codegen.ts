import type { JobSurroundings } from './serve-job.ts';

/** Serves a codegen job. */
export async function serveCodegen(_around: JobSurroundings): Promise<void> {
  await Promise.resolve();
  throw new Error('codegen');
}
