import type { JobDecision } from '../../contracts/jobs/decision.ts';
import { diagnostic } from '../../contracts/errors/diagnostic.ts';
import { DEFAULT_CONSUMER, type CodegenOptions } from '../../contracts/jobs/job.ts';
import type { Decided } from '../../models/decision/decide.ts';
import type { DecidedAction } from '../../models/decision/read-decision.ts';
import { toolPatterns } from '../request/asked-tools.ts';
import { unknownTools } from '../prepare/prepare-tools.ts';
import { prepareJob, type PreparationOptions, type PreparedJob } from '../prepare/prepare-job.ts';

/** A job after its decision, and the parts of the decision that it took over. */
export interface HandedOver {
  job: PreparedJob;
  handover: NonNullable<JobDecision['handover']>;
}

/**
 * Prepares a job again with the task, outputs and skills of its decision, in addition to its own outputs and skills. Chosen skills that the
 * policy of its consumer denies are left out; tools of the other chosen skills are included.
 *
 * @throws SkillcellError as `prepareJob`
 */
export async function handOver(
  job: PreparedJob & { request: { kind: 'codegen' } & CodegenOptions },
  { chosen, block }: Decided,
  { task, outputs }: DecidedAction & { action: 'codegen' },
  options: PreparationOptions,
): Promise<HandedOver> {
  const { request, globals, tools } = job;
  const { consumer = DEFAULT_CONSUMER, refs: own = [], ...asked } = request.skills ?? {};
  const { includeInternal } = asked;
  const asking = { consumer, includeInternal, tools: [...tools.keys()] };
  const rows = options.skills?.resolve([...own, ...chosen], asking).rows.slice(own.length) ?? [];
  const refs = [...own, ...rows.flatMap(({ status, id }) => (status === 'loaded' && id !== undefined ? [id] : []))];
  // The sources keep the numbers that the decision has seen.
  const pool = block?.pool ?? globals.SOURCES_POOL;
  const expect = [...new Set([...globals.JOB.expect, ...outputs])];
  const prepared = await prepareJob(
    { ...request, task, expect, skills: { ...asked, consumer, refs, pool } },
    options,
    job.match,
  );
  const denied = rows
    .filter(({ status }) => status === 'denied' || status === 'unknown')
    .map(({ ref, reason }) => {
      const message = `${ref} was chosen, and ${consumer} writes the code without it: ${reason ?? 'denied'}.`;
      return diagnostic('decision.skill-denied', message);
    });
  const diagnostics = [
    ...denied,
    ...unknownTools(toolPatterns(request.tools ?? []), prepared.tools),
    ...prepared.diagnostics,
  ];
  return { handover: { task, outputs, skills: rows }, job: { ...prepared, diagnostics } };
}
