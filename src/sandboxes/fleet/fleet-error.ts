import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Redis before 7.2 has no code for a command within a script that its user may not use. */
const REFUSED =
  /^(?:NOAUTH|WRONGPASS|NOPERM|ERR AUTH|ERR Client sent AUTH|ERR The user executing the script can't run this command)/;
/** Errors of commands that have no connection. */
const CUT =
  /^(?:Reached the max retries per request limit|Command aborted due to connection close|Connection is closed|Stream isn't writeable)/;

/**
 * An error of Redis as ours. A refusal is final; anything else may pass.
 *
 * @param action "start a sandbox"
 */
export function fleetError(action: string, shown: string, cause: unknown): SkillcellError {
  if (SkillcellError.isInstance(cause)) return cause;
  const given = cause instanceof Error ? cause.message || cause.name : String(cause);
  const reason = CUT.test(given) ? 'the connection was cut' : given;
  const code = REFUSED.test(reason) ? 'fleet.refused' : 'fleet.unavailable';
  return new SkillcellError(code, `Cannot ${action}: Redis at ${shown}: ${reason.slice(0, 300)}.`, { cause });
}

/** Throws a refusal of Redis, which is final. Another error passes with its connection. */
export function throwRefusal(error: unknown): null {
  if (isRefusal(error)) throw error;
  return null;
}

/** Whether a command failed for want of a connection; another error says why. */
export function isCut(error: unknown): boolean {
  return error instanceof Error && CUT.test(error.message);
}

/** Whether Redis refused a command for want of rights. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && REFUSED.test(error.message);
}
