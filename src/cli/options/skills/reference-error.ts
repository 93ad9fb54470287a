import type { ReferenceRow } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { SkillsSubsystem } from '../../../skills/subsystem.ts';
import { explainReference } from './job-skills.ts';
import { quoted } from '../../terminal/usage-error.ts';

/** The error of references that are unknown or denied, each with its reason. */
export function referenceError(action: string, rows: readonly ReferenceRow[], subsystem: SkillsSubsystem): unknown {
  const refused = rows.filter(({ status }) => status === 'unknown' || status === 'denied');
  const reasons = refused.map(
    ({ ref, status, reason }) => `${quoted(ref)} is ${status}${reason === undefined ? '' : ` (${reason})`}`,
  );
  const code = refused.some(({ status }) => status === 'unknown')
    ? 'skills.reference-unknown'
    : 'skills.reference-denied';
  const error = new SkillcellError(code, `Cannot ${action}: ${reasons.join('; ')}.`);
  return explainReference(
    error,
    refused.map(({ ref }) => ref),
    subsystem,
  );
}
