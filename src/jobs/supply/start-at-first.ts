import type { Language } from '../../contracts/jobs/language.ts';
import type { Runner, SandboxLimits } from '../../sandboxes/runner.ts';
import { isPassedOver, noSandbox, type Refusal } from './no-sandbox.ts';
import type { SandboxDemand, SandboxPlace } from './sandbox-places.ts';
import type { SandboxSession } from './sandbox-session.ts';
import type { SessionStarter } from './session-starter.ts';

/** How long `auto` waits for the first answer of what a runner needs, where there is another runner. */
const PATIENCE_MS = 2_000;

/** What is to be started, and where that is tried. */
export interface StartWish extends Pick<SandboxDemand, 'runner' | 'isolation'> {
  places: readonly SandboxPlace[];
  /** All runners there are. */
  runners: readonly Runner[];
  language: Language;
  limits: SandboxLimits;
  /** A sandbox that is there already, asked for before one is started at a place. */
  waiting?(place: SandboxPlace): SandboxSession | undefined;
}

/** A sandbox, whether it waited, and why it is at none of the places before. */
export interface FoundSandbox {
  session: SandboxSession;
  warm: boolean;
  refusals: Refusal[];
}

/**
 * Starts a sandbox at the first place that has one. A level that cannot be had shows itself at its first start: that is the
 * probe, made with the sandbox that the job will use.
 *
 * @throws SkillcellError when no place has one
 */
export async function startAtFirst(
  starter: SessionStarter,
  { places, runners, language, limits, waiting, ...demand }: StartWish,
  signal: AbortSignal,
): Promise<FoundSandbox> {
  const refusals: Refusal[] = [];
  for (const [index, { runner, isolation }] of places.entries()) {
    // What keeps a whole runner from working does so at each of its levels.
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
