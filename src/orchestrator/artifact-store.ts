import { SkillcellError } from '../contracts/skillcell-error.ts';

/** Bytes of artifacts that stay in memory; the oldest jobs' go first. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Artifacts of jobs that named no folder, until newer jobs need the room. */
export interface ArtifactStore {
  keep(jobId: string, files: Map<string, Buffer>): void;
  /** @throws SkillcellError `file.unreadable` */
  take(jobId: string, path: string): Buffer;
}

/** Creates an empty store. */
export function createArtifactStore(): ArtifactStore {
  const jobs = new Map<string, Map<string, Buffer>>();
  let bytes = 0;
  return {
    keep(jobId, files) {
      jobs.set(jobId, files);
      bytes += sizeOf(files);
      for (const [oldest, held] of jobs) {
        if (bytes <= MAX_BYTES || oldest === jobId) break;
        jobs.delete(oldest);
        bytes -= sizeOf(held);
      }
    },
    take(jobId, path) {
      const found = jobs.get(jobId)?.get(path);
      if (found === undefined) {
        throw new SkillcellError(
          'file.unreadable',
          `Cannot read an artifact: there is none, got ${path} of job ${jobId}.`,
        );
      }
      return found;
    },
  };
}

function sizeOf(files: Map<string, Buffer>): number {
  let size = 0;
  for (const bytes of files.values()) size += bytes.length;
  return size;
}
