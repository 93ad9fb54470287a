import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { ReferenceRow } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import type { CheckedRequest } from './job-schema.ts';

/** The references of a job, the skill of its script first. */
export function requestedSkills(request: CheckedRequest): string[] {
  return [...(request.kind === 'script' ? [request.skill] : []), ...(request.skills?.refs ?? [])];
}

/**
 * Refuses an unknown or denied skill before tools are looked up. Otherwise the error would name the missing tools of that skill.
 *
 * @throws SkillcellError as {@link requireLoadable} does
 */
export function requireSkills(request: CheckedRequest, subsystem: SkillsSubsystem | undefined): void {
  if ((request.tools ?? []).length === 0 || subsystem === undefined) return;
  const { consumer = DEFAULT_CONSUMER, includeInternal } = request.skills ?? {};
  requireLoadable(subsystem.resolve(requestedSkills(request), { consumer, includeInternal }).rows, consumer, []);
}

/**
 * Refuses references that the consumer cannot load: otherwise the work would be done without its rules.
 *
 * @param diagnostics diagnostics for the error
 * @throws SkillcellError `skills.reference-denied` or `skills.reference-unknown`
 */
export function requireLoadable(rows: readonly ReferenceRow[], consumer: string, diagnostics: Diagnostic[]): void {
  const refused = rows.find(({ status }) => status === 'unknown' || status === 'denied');
  if (refused === undefined) return;
  const { status, reason, ref } = refused;
  throw new SkillcellError(
    status === 'denied' ? 'skills.reference-denied' : 'skills.reference-unknown',
    `Cannot load a skill for ${consumer}: ${reason ?? status}, got ${JSON.stringify(ref)}.`,
    { diagnostics },
  );
}
