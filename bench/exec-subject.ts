import type { ExecOptions } from '../src/contracts/jobs/job.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import type { Subject } from './take-turns.ts';

/** Time to remove the remains of a job; the caller of a job does not wait for that. */
const SETTLE_MS = 50;

/** From the call of `exec` to its result, for a program that prints 42. */
export function execSubject(id: string, orchestrator: Orchestrator, job: ExecOptions, warm: boolean): Subject {
  const settle = async (): Promise<void> => {
    await orchestrator.warm();
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  };
  return {
    id,
    prepare: settle,
    async sample() {
      const started = performance.now();
      const result = await orchestrator.exec(job);
      const taken = performance.now() - started;
      if (result.stdout.text !== '42\n' || result.usage.warm !== warm) {
        throw new Error(`Cannot measure ${id}: the job did not print 42 as expected, got ${JSON.stringify(result)}.`);
      }
      // The pool must be full again before the next subject's turn.
      await settle();
      return taken;
    },
  };
}
