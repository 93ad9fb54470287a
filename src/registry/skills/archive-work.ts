import { Worker } from 'node:worker_threads';
import { ARCHIVE_LIMITS } from '../../archives/checks/archive-limits.ts';
import { ArchiveRefusal, archiveRefused } from '../../archives/checks/archive-refused.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { inPackage } from '../../contracts/package-root.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { createLimiter } from '../../protocol/limiter.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { TreeScan } from '../../scan/scan-tree.ts';
import type { DescribedSkill } from './describe-skill.ts';

/** An archive, and the work on it. */
export type ArchiveWork = {
  bytes: Uint8Array;
  /** File name of the archive. */
  file: string;
} & (
  | {
      type: 'check';
      /** Name of the skill; by default that of its folder, or of the archive. */
      name?: string | undefined;
      isPublic: boolean;
    }
  /** Puts the files into a cache. */
  | { type: 'keep'; cacheFolder: string; cacheBytes: number }
);

/** The skill in an archive, with the findings of a scan. */
export interface CheckedSkill extends DescribedSkill, Pick<TreeScan, 'findings' | 'unscanned'> {
  fileSize: number;
  /** SHA-256 of the archive, in hex. */
  fileHash: string;
}

/** The end of the work. */
export interface ArchiveAnswer {
  skill?: CheckedSkill | undefined;
  error?: ReturnType<SkillcellError['toJSON']>;
}

/** Options of a check. */
export interface WorkOptions {
  signal?: AbortSignal | undefined;
  /** @default 30,000 */
  timeoutMs?: number | undefined;
  /** Memory of the worker for its objects, in MiB. @default 512 */
  heapMib?: number | undefined;
}

const TIMEOUT_MS = 30_000;
/** A text of 50 MiB is searched in several forms. */
const HEAP_MIB = 512;
/** Time without work after which the worker ends. */
const IDLE_MS = 10_000;

/** Two archives at once would take the memory of both. */
const oneAtATime = createLimiter({ room: 1 });

/**
 * Reads an archive in a worker thread, one at a time in this process.
 *
 * @throws SkillcellError `archive.refused`, `skills.invalid`
 */
export async function workOnArchive(work: ArchiveWork, options: WorkOptions = {}): Promise<CheckedSkill | undefined> {
  const { signal, timeoutMs = TIMEOUT_MS, heapMib = HEAP_MIB } = options;
  const refusal = (reason: string): unknown =>
    archiveRefused(new ArchiveRefusal('archive.size', reason), quotedText(work.file));
  const { packedBytes } = ARCHIVE_LIMITS;
  if (work.bytes.length > packedBytes) throw refusal(`it has more than ${packedBytes} bytes, ${work.bytes.length}`);
  const leave = await oneAtATime.enter({ signal });
  const worker = heapMib === HEAP_MIB ? takeIdle() : startWorker(heapMib);
  const { promise, resolve, reject } = Promise.withResolvers<ArchiveAnswer>();
  const fail = (error: NodeJS.ErrnoException): void => {
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(isFull ? refusal(`its check takes more than ${heapMib} MiB of memory`) : error);
  };
  worker.once('message', resolve).once('error', fail);
  let isSound = false;
  try {
    worker.ref();
    worker.postMessage(work, []);
    const { skill, error } = await withinDeadline(promise, {
      limitMs: timeoutMs,
      overdue() {
        throw refusal(`its check takes more than ${timeoutMs / 1_000} s`);
      },
      signal,
    });
    isSound = true;
    if (error === undefined) return skill;
    const { code, message, hint, diagnostics } = error;
    throw new SkillcellError(code, message, { hint, diagnostics });
  } finally {
    worker.off('message', resolve).off('error', fail);
    if (isSound && heapMib === HEAP_MIB) keepIdle(worker);
    else await worker.terminate();
    leave?.();
  }
}

/** Its start takes longer than a small archive. */
let idle: { worker: Worker; ending: NodeJS.Timeout } | undefined;

function takeIdle(): Worker {
  if (idle === undefined) return startWorker(HEAP_MIB);
  const { worker, ending } = idle;
  clearTimeout(ending);
  idle = undefined;
  return worker;
}

function keepIdle(worker: Worker): void {
  worker.unref();
  const end = (): void => {
    idle = undefined;
    void worker.terminate();
  };
  idle = { worker, ending: setTimeout(end, IDLE_MS).unref() };
}

function startWorker(heapMib: number): Worker {
  const worker = new Worker(workerFile(), {
    resourceLimits: { maxOldGenerationSizeMb: heapMib },
    // No variable and no flag of this process changes its work.
    env: {},
    execArgv: [],
  });
  // Without a listener, an error after the end of its work would end the process.
  worker.on('error', () => undefined);
  worker.on('exit', () => {
    if (idle?.worker !== worker) return;
    clearTimeout(idle.ending);
    idle = undefined;
  });
  return worker;
}

function workerFile(): URL | string {
  return import.meta.url.endsWith('.ts')
    ? new URL('./archive-worker.ts', import.meta.url)
    : inPackage('dist/registry/skills/archive-worker.js');
}
