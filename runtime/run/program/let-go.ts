import type { ExecutorProcess } from './executor-process.ts';

/** Lets go of what this process holds of one that user code runs in; who ends all of them ends it. */
export function letGo({ stdin, stdout, stderr, messagesIn, messagesOut, starter }: ExecutorProcess): void {
  starter?.close();
  for (const stream of [stdin, stdout, stderr, messagesIn, messagesOut]) stream.destroy();
}
