import type { Language } from '../../contracts/jobs/language.ts';
import type { Runner, SandboxLimits } from '../../sandboxes/runner.ts';
import { isPassedOver, noSandbox, type Refusal } from './no-sandbox.ts';
import type { SandboxDemand, SandboxPlace } from './sandbox-places.ts';
import type { SandboxSession } from './sandbox-session.ts';
import type { SessionStarter } from './session-starter.ts';

/** Time for `auto` to reach a runner's engine before it tries another runner. */
const PATIENCE_MS = 2_000;

/** A sandbox to start, and the places to try. */
export interface StartWish extends Pick<SandboxDemand, 'runner' | 'isolation'> {
  places: readonly SandboxPlace[];
  /** All runners of the orchestrator. */
  runners: readonly Runner[];
  language: Language;
  limits: SandboxLimits;
  /** Returns a waiting sandbox at a place; called before a sandbox is started there. */
  waiting?(place: SandboxPlace): SandboxSession | undefined;
}

/** A sandbox, whether it is warm, and the refusals of the places before its own. */
export interface FoundSandbox {
  session: SandboxSession;
  warm: boolean;
  refusals: Refusal[];
}

/**
 * Starts a sandbox at the first place that can start one. There is no separate probe: starting the sandbox shows whether a level is
 * available.
 *
 * @throws SkillcellError if no place can start a sandbox
 */
export async function startAtFirst(
  starter: SessionStarter,
  { places, runners, language, limits, waiting, ...demand }: StartWish,
  signal: AbortSignal,
): Promise<FoundSandbox> {
  const refusals: Refusal[] = [];
  for (const [index, { runner, isolation }] of places.entries()) {
    // A failure of the whole runner applies to each of its levels.
    if (refusals.some((row) => row.runner === runner && row.error.code !== 'runner.isolation-unmet')) continue;
    const session = waiting?.({ runner, isolation });
    if (session !== undefined) return { session, warm: true, refusals };
    try {
      const isLast = places.slice(index).every((later) => later.runner === runner);
      if (!isLast) await runner.reach?.({ signal, patienceMs: PATIENCE_MS });
      const started = await starter.start(runner, { isolation, language, limits }, signal);
      return { session: started, warm: false, refusals };
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassedOver(error, demand)) throw error;
      refusals.push({ runner, isolation, error });
    }
  }
  throw noSandbox(demand, runners, refusals);
}
