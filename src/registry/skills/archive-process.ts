/**
 * A process that reads archives in a thread. The memory of the thread goes with the process, and the main thread is always free to see the end of the
 * service.
 */
import { Worker } from 'node:worker_threads';
import type { ArchiveAnswer, ArchiveWork } from './archive-work.ts';

const [, , workerFile = '', heapMib] = process.argv;
const worker = new Worker(workerFile, { resourceLimits: { maxOldGenerationSizeMb: Number(heapMib) } });
const answer = (end: ArchiveAnswer): void => void process.send?.(end);

process.on('message', (work: ArchiveWork) => worker.postMessage(work, []));
worker.on('message', answer);
worker.on('error', (error: NodeJS.ErrnoException) =>
  answer({ fault: { isMemory: error.code === 'ERR_WORKER_OUT_OF_MEMORY', message: String(error.stack) } }),
);
// The service is gone. Files in the cache are written whole or not at all, so that an end at any time is right.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// They are for the service, which may still answer uploads.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
