import { reasonOf } from '../../contracts/errors/reason-of.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Rehearsal } from '../../protocol/messages/messages.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { Runner, SandboxSpec, StartOptions } from '../../sandboxes/runner.ts';
import { createBackgroundWork } from './background-work.ts';
import { openSession, type SandboxSession } from './sandbox-session.ts';

/** A sandbox is usually ready in a fraction of a second, under load in a few seconds. */
const READY_MS = 60_000;

/** Starts sandboxes, and ends those that do not become ready. */
export interface SessionStarter {
  /** Starts a sandbox and waits until it is ready for its job. */
  start(runner: Runner, spec: SandboxSpec, options: StartOptions): Promise<SandboxSession>;
  /** Rehearses a job in the sandbox. This also checks that the sandbox is alive. */
  rehearse(session: SandboxSession, rehearsal: Rehearsal, signal?: AbortSignal): Promise<void>;
  /** Resolves when all failed sandboxes are gone. */
  settled(): Promise<void>;
}

/** Creates the starter of one orchestrator. */
export function createSessionStarter(onFailure: (error: unknown) => void): SessionStarter {
  /** Kills in the background: the runner itself may be hanging. */
  const leaving = createBackgroundWork(onFailure);

  const orDismiss = async (session: SandboxSession, step: Promise<void>, signal?: AbortSignal): Promise<void> => {
    try {
      await withinDeadline(step, { limitMs: READY_MS, overdue: throwOverdue, signal });
    } catch (error) {
      leaving.add(session.sandbox.kill('it did not become ready'));
      throw error;
    }
  };

  return {
    async start(runner, spec, options) {
      const startedAt = performance.now();
      const sandbox = await runner.start(spec, options);
      const session = openSession(sandbox, startedAt);
      try {
        await orDismiss(session, session.ready, options.signal);
      } catch (error) {
        throw sandbox.worker === undefined ? error : lostOnItsWay(sandbox.worker, error);
      }
      return session;
    },
    rehearse: (session, rehearsal, signal) => orDismiss(session, session.rehearse(rehearsal), signal),
    settled: leaving.settled,
  };
}

/** Its worker had it ready, so the failure is one of that host, and another may do better. */
function lostOnItsWay(worker: string, error: unknown): unknown {
  if (!SkillcellError.isInstance(error) || error.code !== 'sandbox.start-failed') return error;
  const message = `Cannot go on with the sandbox: worker ${worker} had it ready, but ${reasonOf(error)}.`;
  return new SkillcellError('sandbox.lost', message, { cause: error });
}

function throwOverdue(): never {
  throw new SkillcellError(
    'sandbox.start-failed',
    `Cannot start a sandbox: it was not ready within ${READY_MS / 1000} s.`,
  );
}
