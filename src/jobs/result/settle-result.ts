import { diagnostic } from '../../contracts/errors/diagnostic.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { HostLeaves } from '../../sandboxes/host-leaves.ts';
import type { SandboxResult } from '../../protocol/messages/messages.ts';
import type { Ending, JobEnding } from './job-ending.ts';
import type { ArtifactCollector } from './receive-artifacts.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';

/** Parts of a job that is over in its sandbox. */
export interface SettledRun {
  session: SandboxSession;
  artifacts: ArtifactCollector;
  ending: Pick<JobEnding, 'canceledFor'>;
}

/**
 * The sandbox's result once its artifacts are complete; without a report of the sandbox, a result from the host's own facts.
 *
 * @throws SkillcellError `sandbox.lost` or `channel.protocol` when the sandbox ended without a reason of ours
 */
export async function settleResult(
  ended: Ending,
  { artifacts, session, ending: { canceledFor } }: SettledRun,
): Promise<SandboxResult> {
  if (ended.kind === 'result') {
    await takeArtifacts(artifacts);
    return ended.result;
  }
  // The silence may come from a lost engine and not from the program: killing the sandbox tells the difference.
  if (ended.kind === 'overdue' && canceledFor !== 'canceled') await session.sandbox.kill('it is overdue');
  if (ended.kind === 'closed' || canceledFor === 'timeout') {
    const exit = await session.sandbox.exited;
    const oomKills = (await session.sandbox.usage?.())?.oomKills ?? 0;
    if (exit.oom === true || oomKills > 0) return without('out_of_memory');
    if (canceledFor === undefined) {
      const error = ended.kind === 'closed' ? ended.error : undefined;
      throw lost(session, exit.isAnnounced === true ? (error ?? new HostLeaves()) : error);
    }
  }
  if (canceledFor === 'calls' || canceledFor === 'network') return without('limit', canceledFor);
  return without(canceledFor === 'timeout' ? 'timeout' : 'canceled');
}

async function takeArtifacts(artifacts: ArtifactCollector): Promise<void> {
  try {
    await artifacts.done();
  } catch (cause) {
    if (SkillcellError.isInstance(cause)) throw cause;
    const message = 'Cannot take the artifacts: the archive is not acceptable.';
    throw new SkillcellError('channel.protocol', message, { cause });
  }
}

function without(outcome: SandboxResult['outcome'], limit?: SandboxResult['limit']): SandboxResult {
  const message = 'The sandbox was ended before it could report; its output until then is kept.';
  return {
    outcome,
    ...(limit === undefined ? {} : { limit }),
    exitCode: null,
    signal: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    ...(outcome === 'timeout' ? { error: { name: 'JobTimeout', message: 'The job took too long.', stack: '' } } : {}),
    omitted: [],
    sources: [],
    diagnostics: [diagnostic('sandbox.ended', message)],
    runMs: 0,
  };
}

function lost(session: SandboxSession, error: Error | undefined): SkillcellError {
  // An error with a syscall is a broken connection, not a protocol error of the sandbox.
  const isBreach = error !== undefined && (error as NodeJS.ErrnoException).syscall === undefined;
  if (isBreach && !(error instanceof HostLeaves)) {
    const fault = error.message.replace(/\.$/, '');
    const message = `Cannot go on with the job: the sandbox broke the protocol (${fault}).`;
    return new SkillcellError('channel.protocol', message, { cause: error });
  }
  const said = session.sandbox.complaint().trim();
  return new SkillcellError(
    'sandbox.lost',
    `Cannot finish the job: the sandbox ended without a result${said === '' ? '' : ` (${said.slice(-500)})`}.`,
    { cause: error },
  );
}
