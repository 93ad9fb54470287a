import type { JobHost } from './job-host.ts';
import type { PreparationOptions } from './prepare-job.ts';

/** What the jobs of a host are prepared with. */
export function preparationOptions({ settings, tools, skillCode }: JobHost, signal: AbortSignal): PreparationOptions {
  const { skills, ceilings, model } = settings;
  return { skills, tools, ceilings, model: model?.id ?? 'none', skillCode, signal };
}
