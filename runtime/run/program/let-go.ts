import type { ExecutorProcess } from './executor-process.ts';

/** Releases this process's handles of an executor. The code that ends all processes ends the executor. */
export function letGo({ stdin, stdout, stderr, messagesIn, messagesOut, starter }: ExecutorProcess): void {
  starter?.close();
  for (const stream of [stdin, stdout, stderr, messagesIn, messagesOut]) stream.destroy();
}
