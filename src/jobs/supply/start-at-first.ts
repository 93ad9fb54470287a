import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
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
  onWaiting?: ((reason: string) => void) | undefined;
  /** Returns a waiting sandbox at a place; called before a sandbox is started there. */
  waiting?(place: SandboxPlace): SandboxSession | undefined;
}

/** A sandbox, whether it is warm, and the refusals of the places before its own. */
export interface FoundSandbox {
  session: SandboxSession;
  warm: boolean;
  refusals: Refusal[];
}

/** After so long, a start that waits tells why. */
const TELL_MS = 10_000;

/**
 * Starts a sandbox at the first place that can start one. There is no separate probe: starting the sandbox shows whether a level is
 * available. If all places refuse, and a runner expects that this changes, it waits and looks again.
 *
 * @throws SkillcellError if no place can start a sandbox
 */
export async function startAtFirst(
  starter: SessionStarter,
  wish: StartWish,
  signal: AbortSignal,
): Promise<FoundSandbox> {
  const startedAt = performance.now();
  let tell = wish.onWaiting;
  for (;;) {
    const { found, refusals } = await tryPlaces(starter, wish, signal);
    if (found !== undefined) return found;
    const refused = noSandbox(wish, wish.runners, refusals);
    const changes = [...new Set(refusals.map(({ runner }) => runner))].flatMap(
      (runner) => runner.changed?.(signal) ?? [],
    );
    if (changes.length === 0) throw refused;
    if (performance.now() - startedAt > TELL_MS) {
      tell?.(refused.message);
      tell = undefined;
    }
    await Promise.race(changes);
  }
}

async function tryPlaces(
  starter: SessionStarter,
  { places, language, limits, waiting, onWaiting, ...demand }: StartWish,
  signal: AbortSignal,
): Promise<{ found?: FoundSandbox; refusals: Refusal[] }> {
  const refusals: Refusal[] = [];
  for (const [index, { runner, isolation }] of places.entries()) {
    // A failure of the whole runner applies to each of its levels.
    if (refusals.some((row) => row.runner === runner && row.error.code !== 'runner.isolation-unmet')) continue;
    const session = waiting?.({ runner, isolation });
    if (session !== undefined) return { found: { session, warm: true, refusals }, refusals };
    try {
      const isLast = places.slice(index).every((later) => later.runner === runner);
      if (!isLast) await runner.reach?.({ signal, patienceMs: PATIENCE_MS });
      const started = await starter.start(runner, { isolation, language, limits }, { signal, onWaiting });
      return { found: { session: started, warm: false, refusals }, refusals };
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassedOver(error, demand) && !mayChange(error, runner)) throw error;
      refusals.push({ runner, isolation, error });
    }
  }
  return { refusals };
}

/** Whether a runner refuses a start only for now. */
function mayChange(error: unknown, { changed }: Runner): error is SkillcellError {
  return changed !== undefined && SkillcellError.isInstance(error) && error.entry.ofRunner === true;
}
