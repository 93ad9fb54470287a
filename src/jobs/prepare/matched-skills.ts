import type { JobMatch } from '../../contracts/skills/matching.ts';
import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { ConsumerOptions, SkillsSubsystem } from '../../skills/index.ts';
import { invalid, type CheckedRequest } from '../request/job-schema.ts';

/** Characters of a task that are matched: the subject comes early, and the time of a pattern grows with the text. */
const MATCHED_CHARACTERS = 16_384;

/** A job with the skills that match its task. */
export interface MatchedRequest {
  /** References: first the job's own, then the matched skills. It asks for no further matching. */
  request: CheckedRequest;
  /** Undefined if the job did not ask for matching. */
  match: JobMatch | undefined;
}

/**
 * Matches the task of a job under the policy of its consumer, if the job asks for it. In a trigger session, this is one turn.
 *
 * @throws SkillcellError `job.invalid` for a job without a task
 */
export function matchJob(request: CheckedRequest, subsystem: SkillsSubsystem | undefined): MatchedRequest {
  const { match: asked = false, ...skills } = request.skills ?? {};
  if (asked === false) return { request, match: undefined };
  if (request.kind !== 'codegen')
    throw invalid(`skills.match is for codegen jobs, which have a task, got ${request.kind}`);
  if (subsystem === undefined)
    return { request: { ...request, skills }, match: { tier: 0, text: '', matches: [], leftOut: [], kept: [] } };
  const { maxSkills: max, session } = asked === true ? {} : asked;
  const result = subsystem.match(matchedText(request), { ...whoAsks(request), max, session });
  const { active = [], ...rest } = result;
  const matched = rest.matches.map(({ id }) => id);
  const kept = active.filter((id) => !matched.includes(id));
  const refs = [...new Set([...(skills.refs ?? []), ...matched, ...kept])];
  return { request: { ...request, skills: { ...skills, refs } }, match: { ...rest, kept } };
}

/**
 * Removes matched skills that need a tool that the job does not have. The tools are known only after the code of its skills is described.
 *
 * @param named references of the job itself; they stay, and fail the job if they cannot be loaded
 */
export function withoutLacking(
  { request, match }: MatchedRequest,
  named: readonly string[],
  subsystem: SkillsSubsystem | undefined,
  tools: readonly string[],
): MatchedRequest {
  if (match === undefined || subsystem === undefined) return { request, match };
  const asking = { ...whoAsks(request), tools };
  const brought = [...match.matches.map(({ id }) => id), ...match.kept].filter((id) => !named.includes(id));
  const lacking = subsystem
    .resolve(brought, asking)
    .rows.filter(({ status }) => status === 'denied')
    .map(({ ref, id = ref, reason = 'denied' }) => ({ id, reason }));
  const isLacking = (id: string): boolean => lacking.some((row) => row.id === id);
  const matches = match.matches.filter(({ id }) => !isLacking(id));
  // If no match is left, the text shown instead must not name unusable skills.
  const shown = matches.length > 0 ? { tier: match.tier } : shownInstead(request, subsystem, asking);
  const refs = (request.skills?.refs ?? []).filter((id) => named.includes(id) || !isLacking(id));
  return {
    request: { ...request, skills: { ...request.skills, refs } },
    match: {
      ...shown,
      matches,
      kept: match.kept.filter((id) => !isLacking(id)),
      leftOut: [...match.leftOut, ...lacking],
    },
  };
}

/** Tier and text of a job without a match. */
function shownInstead(
  request: CheckedRequest,
  subsystem: SkillsSubsystem,
  asking: ConsumerOptions,
): Pick<JobMatch, 'tier' | 'text'> {
  const found = subsystem.match(matchedText(request), asking);
  const { tier, text = '' } = found.tier === 3 ? subsystem.match('', asking) : found;
  return { tier, text };
}

function matchedText(request: CheckedRequest): string {
  return request.kind === 'codegen' ? request.task.slice(0, MATCHED_CHARACTERS) : '';
}

function whoAsks({ skills }: CheckedRequest): { consumer: string; includeInternal: boolean } {
  return { consumer: skills?.consumer ?? DEFAULT_CONSUMER, includeInternal: skills?.includeInternal ?? false };
}
