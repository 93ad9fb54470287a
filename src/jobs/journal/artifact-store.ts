import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';

/** Number of job ids with evicted artifacts that are remembered, for a better error message. */
const REMEMBERED_IDS = 10_000;

/** Artifacts of jobs without an output folder, until newer jobs need the memory. */
export interface ArtifactStore {
  /** Stores the artifacts of a job. @returns ids of the jobs whose artifacts were evicted; the job itself if it has too many bytes */
  keep(jobId: string, files: ReadonlyMap<string, Buffer>): string[];
  /** @throws SkillcellError `file.unreadable`, or `artifact.evicted` */
  take(jobId: string, path: string): Buffer;
}

/** Creates an empty store of at most `maxBytes`; the artifacts of the oldest job are evicted first. */
export function createArtifactStore(maxBytes: number): ArtifactStore {
  const jobs = new Map<string, ReadonlyMap<string, Buffer>>();
  const evicted = new Set<string>();
  let bytes = 0;

  const drop = (jobId: string): void => {
    bytes -= sizeOf(jobs.get(jobId));
    jobs.delete(jobId);
  };
  const evict = (jobId: string): string => {
    drop(jobId);
    evicted.add(jobId);
    const [oldest] = evicted;
    if (evicted.size > REMEMBERED_IDS && oldest !== undefined) evicted.delete(oldest);
    return jobId;
  };

  return {
    keep(jobId, files) {
      // An id may be reused once its job is over: only the last job's artifacts are kept.
      drop(jobId);
      evicted.delete(jobId);
      const size = sizeOf(files);
      if (files.size === 0) return [];
      if (size > maxBytes) return [evict(jobId)];
      jobs.set(jobId, files);
      bytes += size;
      const gone: string[] = [];
      for (const oldest of jobs.keys()) {
        if (bytes <= maxBytes) break;
        gone.push(evict(oldest));
      }
      return gone;
    },
    take(jobId, path) {
      const found = jobs.get(jobId)?.get(path);
      if (found !== undefined) return found;
      const asked = printablePath(`got ${path} of job ${jobId}`);
      if (evicted.has(jobId)) {
        const message = `Cannot read an artifact: it was evicted when over ${maxBytes} bytes of artifacts were in memory, ${asked}.`;
        throw new SkillcellError('artifact.evicted', message);
      }
      const message = `Cannot read an artifact: it is not in memory, ${asked}.`;
      throw new SkillcellError('file.unreadable', message, {
        hint: 'Use a path of the result of a job without `output`; a job with one has its artifacts in that folder.',
      });
    },
  };
}

function sizeOf(files: ReadonlyMap<string, Buffer> | undefined): number {
  let size = 0;
  for (const bytes of files?.values() ?? []) size += bytes.length;
  return size;
}
