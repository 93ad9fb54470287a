import { ISOLATION_LEVELS } from '../../contracts/jobs/result.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';
import type { Runner } from '../../sandboxes/runner.ts';
import { DEFAULT_ISOLATION, type SandboxDemand, type SandboxPlace } from './sandbox-places.ts';

/** A place that could not be used, and its runner's own error. */
export interface Refusal extends SandboxPlace {
  error: SkillcellError;
}

/** Whether a job that was refused here may be tried at its next place. A job that names a runner gets that runner, or its error. */
export function isPassedOver(error: unknown, { runner }: Pick<SandboxDemand, 'runner'>): error is SkillcellError {
  if (!SkillcellError.isInstance(error)) return false;
  return error.code === 'runner.isolation-unmet' || (runner === 'auto' && error.entry.ofRunner === true);
}

/** One diagnostic for each preferred runner that could not be used. */
export function passedOver(refusals: readonly Refusal[]): Diagnostic[] {
  const reasons = new Map(refusals.map(({ runner, error }) => [runner.name, error.message]));
  return [...reasons].map(([name, reason]) =>
    diagnostic('runner.passed-over', `runner ${name} was not taken: ${reason}`),
  );
}

/** The error of a job without a sandbox: the reasons, and advice for the level that it asked for, never for a weaker level. */
export function noSandbox(
  { runner, isolation }: Pick<SandboxDemand, 'runner' | 'isolation'>,
  runners: readonly Runner[],
  refusals: readonly Refusal[],
): SkillcellError {
  const wanted = runners.filter(({ name }) => runner === 'auto' || runner === name);
  if (wanted.length === 0) {
    const names = runners.map(({ name }) => name).join(', ');
    const message = `Cannot start a sandbox: there is no runner ${printablePath(runner)} here, only ${names}.`;
    return new SkillcellError('runner.unavailable', message);
  }
  const errors = [...new Map(refusals.map(({ error }) => [error.message, error])).values()];
  const [first] = errors;
  if (first !== undefined && errors.length === 1 && (isolation !== undefined || runner !== 'auto')) return first;
  const least = isolation ?? DEFAULT_ISOLATION;
  const reasons =
    errors.length === 0
      ? `: no runner here has this level, got ${runner}.`
      : `. ${errors.map(({ message }) => message).join(' ')}`;
  const message = `Cannot start a sandbox at level ${least}${least === 'kernel' ? '' : ' or better'}${reasons}`;
  // A job that names a level must not be advised to use a weaker one.
  const offersNone = isolation === undefined && refusals.every((refusal) => refusal.isolation !== 'none');
  const code = errors.length === 1 ? first?.code : undefined;
  return new SkillcellError(code ?? 'runner.isolation-unmet', message, {
    hint: [...adviceFor(least, wanted, errors), ...(offersNone ? [FOR_TRUSTED_CODE] : [])].join(' '),
    cause: first,
  });
}

const FOR_TRUSTED_CODE = 'Code that you trust runs without: `--isolation none`.';

/** Advice: first the hints of the errors, then the advice of each runner for the weakest sufficient level. */
function adviceFor(
  least: SandboxDemand['isolation'] & string,
  runners: readonly Runner[],
  errors: readonly SkillcellError[],
): string[] {
  const enough = ISOLATION_LEVELS.slice(ISOLATION_LEVELS.indexOf(least));
  const advice = runners.flatMap((runner) => enough.map((level) => runner.advice?.[level]).find(Boolean) ?? []);
  const lines = [...new Set([...errors.map(({ hint }) => hint), ...advice])];
  return lines.length > 0 ? lines : ['`skillcell doctor` shows the levels that this machine reaches.'];
}
