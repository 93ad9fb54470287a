import * as z from 'zod/mini';
import type { Tool } from '../../tools/define/tool.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import type { JobOptions } from '../../contracts/jobs/job.ts';
import { invalid } from './job-schema.ts';
import { toolsSchema } from './tools-schema.ts';

const ownSchema = z.strictObject({ tools: toolsSchema });

/** Tools that a job names, and tools that it brings. */
export interface AskedTools {
  /** Ids and patterns, including the ids of its own tools. */
  patterns: string[];
  /** Tools of this job only. */
  own: readonly Tool[];
}

/**
 * Splits the `tools` of a job into patterns and its own tools.
 *
 * @param ofHost tools of the orchestrator, whose names are taken
 * @throws SkillcellError `job.invalid` for a tool with a taken or reserved name
 */
export function askedTools(asked: NonNullable<JobOptions['tools']>, ofHost: readonly Tool[]): AskedTools {
  const own = asked.filter((each) => typeof each !== 'string') as Tool[];
  checkOptions(ownSchema, { tools: own }, { action: 'accept the job', code: 'job.invalid' });
  const taken = new Set(ofHost.map(({ id }) => id));
  const twice = own.find(({ id }) => taken.has(id));
  if (twice !== undefined) throw invalid(`tools must not use the name of a tool of the orchestrator, got ${twice.id}`);
  return { patterns: toolPatterns(asked), own };
}

/** Ids and patterns of the `tools` of a job. */
export function toolPatterns(asked: NonNullable<JobOptions['tools']>): string[] {
  return asked.map((each) => (typeof each === 'string' ? each : each.id));
}
