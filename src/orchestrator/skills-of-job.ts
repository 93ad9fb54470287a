import { DEFAULT_CONSUMER } from '../contracts/job.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';
import type { JobRequest } from './job-schema.ts';
import { type GivenSkills, presentSkills } from './present-skills.ts';

/**
 * The skills that a job keeps to its end: those of its submission. A job that only runs code has those whole that it names; one that may find others
 * while it runs has all that anyone may load.
 *
 * @param request not checked yet
 * @throws SkillcellError `store.unavailable`, or the reason of the signal
 */
export async function skillsOfJob(
  skills: GivenSkills | undefined,
  request: JobRequest,
  signal: AbortSignal,
): Promise<SkillsSubsystem | undefined> {
  const { refs = [], consumer = DEFAULT_CONSUMER, match = false, includeInternal } = Object(request.skills) as Asked;
  const named = [...(request.kind === 'script' ? [request.skill] : []), ...(Array.isArray(refs) ? refs : [])];
  const findsMore = request.kind === 'codegen' || match !== false || Object.keys(Object(request.tools)).length > 0;
  // What is malformed is refused by the checks that follow.
  const isNamed = !findsMore && typeof consumer === 'string' && named.every((ref) => typeof ref === 'string');
  return isNamed
    ? await presentSkills(skills, { refs: named, consumer, includeInternal, signal })
    : await presentSkills(skills, { includeInternal: true, signal });
}

type Asked = NonNullable<JobRequest['skills']>;
