import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import type { JobHost } from './job-host.ts';
import type { PreparationOptions } from '../prepare/prepare-job.ts';

/**
 * Options for preparing a job of a host.
 *
 * @param skills the skills that the job keeps to its end
 * @param skillTools whether the job has `load_skill` and all tools of its skills
 */
export function preparationOptions(
  { settings, tools, skillCode }: JobHost,
  skills: SkillsSubsystem | undefined,
  signal: AbortSignal,
  skillTools: boolean,
): PreparationOptions {
  const { ceilings, model, network } = settings;
  return { skills, tools, ceilings, model: model?.id ?? 'none', skillCode, network, signal, skillTools };
}
