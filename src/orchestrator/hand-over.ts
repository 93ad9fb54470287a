import { isDeepStrictEqual } from 'node:util';
import type { JobDecision } from '../contracts/decision.ts';
import { diagnostic } from '../contracts/diagnostic.ts';
import { DEFAULT_CONSUMER, type CodegenOptions } from '../contracts/job.ts';
import type { Decided } from '../decision/decide.ts';
import type { DecidedAction } from '../decision/read-decision.ts';
import type { SkillsSubsystem } from '../skills/index.ts';
import { withPromptTools } from './prompt-tools.ts';
import { prepareSkills, type PreparedJob } from './prepare-job.ts';

/** A job that was decided on, and what of the decision it took over. */
export interface HandedOver {
  job: PreparedJob;
  handover: NonNullable<JobDecision['handover']>;
}

/**
 * Makes a prepared job the one that was decided on: its task, the outputs besides its own, and the chosen skills besides its own, those
 * that the policy of its consumer allows.
 */
export async function handOver(
  job: PreparedJob & { request: { kind: 'codegen' } & CodegenOptions },
  { chosen, block }: Decided,
  { task, outputs }: DecidedAction & { action: 'codegen' },
  subsystem: SkillsSubsystem | undefined,
): Promise<HandedOver> {
  const { request, globals } = job;
  const { consumer = DEFAULT_CONSUMER, refs: own = [], ...asked } = request.skills ?? {};
  const { includeInternal } = asked;
  const tools = [...job.tools.keys()];
  const asking = { consumer, includeInternal, tools };
  const rows = subsystem?.resolve([...own, ...chosen], asking).rows.slice(own.length) ?? [];
  const refs = [...own, ...rows.flatMap(({ status, id }) => (status === 'loaded' && id !== undefined ? [id] : []))];
  // The turn's sources keep the numbers that the decision has read.
  const pool = block?.pool ?? globals.SOURCES_POOL;
  const skills = prepareSkills({ ...request, skills: { ...asked, consumer, refs, pool } }, subsystem, tools);
  const expect = [...new Set([...globals.JOB.expect, ...outputs])];
  const denied = rows
    .filter(({ status }) => status === 'denied' || status === 'unknown')
    .map(({ ref, reason }) =>
      diagnostic(
        'decision.skill-denied',
        `${ref} was chosen, and ${consumer} writes the code without it: ${reason ?? 'denied'}.`,
      ),
    );
  job.disclosure?.begin({ active: skills.active, pool: skills.pool, tools: [...job.tools.keys()] });
  // Of the job's own skills they are known.
  const found = skills.diagnostics.filter((row) => !job.diagnostics.some((known) => isDeepStrictEqual(known, row)));
  return {
    handover: { task, outputs, skills: rows },
    job: {
      ...job,
      trees: skills.trees,
      active: skills.active,
      instructionSha256: skills.instructionSha256,
      diagnostics: [...job.diagnostics, ...denied, ...found],
      globals: await withPromptTools(
        {
          ...globals,
          SKILLS_DESCRIPTOR: skills.descriptor,
          SOURCES_POOL: pool,
          JOB: {
            ...globals.JOB,
            expect,
            skills: { ...globals.JOB.skills, refs: skills.refs },
            ...(globals.JOB.codegen === undefined ? {} : { codegen: { ...globals.JOB.codegen, task } }),
          },
        },
        { tools: job.tools.values(), active: skills.active, subsystem, budgetTokens: request.toolBudgetTokens },
      ),
    },
  };
}
