import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import type { JobHost } from './job-host.ts';
import type { PreparationOptions } from '../prepare/prepare-job.ts';

/**
 * What the jobs of a host are prepared with.
 *
 * @param skills those that the job keeps
 */
export function preparationOptions(
  { settings, tools, skillCode }: JobHost,
  skills: SkillsSubsystem | undefined,
  signal: AbortSignal,
): PreparationOptions {
  const { ceilings, model } = settings;
  return { skills, tools, ceilings, model: model?.id ?? 'none', skillCode, signal };
}
