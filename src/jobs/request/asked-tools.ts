import * as z from 'zod/mini';
import type { Tool } from '../../tools/define/tool.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import type { JobOptions } from '../../contracts/jobs/job.ts';
import { invalid } from './job-schema.ts';
import { toolsSchema } from './tools-schema.ts';

const ownSchema = z.strictObject({ tools: toolsSchema });

/** What a job names as its tools, and those that it brings. */
export interface AskedTools {
  /** Ids and patterns, those of its own tools among them. */
  patterns: string[];
  /** Tools that no other job has. */
  own: readonly Tool[];
}

/**
 * Takes apart what a job asks for.
 *
 * @param ofHost tools of the orchestrator, whose names are taken
 * @throws SkillcellError `job.invalid` for a tool with a name that another has, or that is not for callers
 */
export function askedTools(asked: NonNullable<JobOptions['tools']>, ofHost: readonly Tool[]): AskedTools {
  const own = asked.filter((each) => typeof each !== 'string') as Tool[];
  checkOptions(ownSchema, { tools: own }, { action: 'accept the job', code: 'job.invalid' });
  const taken = new Set(ofHost.map(({ id }) => id));
  const twice = own.find(({ id }) => taken.has(id));
  if (twice !== undefined) throw invalid(`tools has one with the name of one of the orchestrator, got ${twice.id}`);
  return { patterns: toolPatterns(asked), own };
}

/** Ids and patterns of what a job asks for. */
export function toolPatterns(asked: NonNullable<JobOptions['tools']>): string[] {
  return asked.map((each) => (typeof each === 'string' ? each : each.id));
}
