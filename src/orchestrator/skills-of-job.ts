import { DEFAULT_CONSUMER } from '../contracts/job.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';
import type { JobRequest } from './job-schema.ts';
import { type GivenSkills, presentSkills } from './present-skills.ts';

/**
 * The skills that a job keeps to its end: those of its submission, with those whole that it names. What else it turns out to need is fetched of the
 * same snapshot.
 *
 * @param request not checked yet
 * @throws SkillcellError `store.unavailable`, or the reason of the signal
 */
export async function skillsOfJob(
  skills: GivenSkills | undefined,
  request: JobRequest,
  signal: AbortSignal,
): Promise<SkillsSubsystem | undefined> {
  const { refs = [], consumer = DEFAULT_CONSUMER, includeInternal } = Object(request.skills) as Asked;
  const named = [...(request.kind === 'script' ? [request.skill] : []), ...(Array.isArray(refs) ? refs : [])];
  // What is malformed is refused by the checks that follow.
  const isNamed = typeof consumer === 'string' && named.every((ref) => typeof ref === 'string');
  return isNamed
    ? await presentSkills(skills, { refs: named, consumer, includeInternal, signal })
    : await presentSkills(skills, { refs: [], signal });
}

type Asked = NonNullable<JobRequest['skills']>;
