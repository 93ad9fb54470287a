import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { openDockerRunner } from '../../sandboxes/docker/docker-runner.ts';
import { IMAGE_FLAVORS, type ImageFlavor } from '../../sandboxes/docker/image-flavor.ts';
import type { FleetRunnerOptions } from '../../sandboxes/fleet/fleet-runner.ts';
import { createLocalRunner } from '../../sandboxes/local/local-runner.ts';
import type { Runner } from '../../sandboxes/runner.ts';
import type { CommandContext } from '../options/flags/command.ts';
import { type FleetOfJobs, fleetOfJobs } from '../options/flags/fleet-flags.ts';
import type { CliIo } from '../terminal/cli-io.ts';

/** Options of {@link jobRunners}. */
export interface JobRunnersOptions extends Pick<FleetRunnerOptions, 'logger'> {
  /** With `'wait'`, jobs wait for a fitting worker; otherwise `auto` goes on to the next runner. */
  emptyFleet?: 'refuse' | 'wait';
  /** @default that of the flags */
  fleet?: FleetOfJobs | undefined;
}

/**
 * The runners of a command that runs jobs, in the order in which `auto` looks at them: the fleet, if one is named, comes first.
 *
 * @throws SkillcellError `usage.invalid` or `file.unreadable`
 */
export async function jobRunners(
  context: CommandContext,
  { fleet = fleetOfJobs(context), ...options }: JobRunnersOptions = {},
): Promise<Runner[]> {
  const own = cliRunners(context.io);
  if (fleet === undefined) return own;
  const { createFleetRunner } = await import('../../sandboxes/fleet/fleet-runner.ts');
  return [createFleetRunner({ ...fleet, ...options }), ...own];
}

/**
 * The runners of this machine, in the order in which `auto` looks at them. Nothing connects before a job does.
 * `SKILLCELL_IMAGE_FLAVOR` chooses the image, `SKILLCELL_RUNTIME` and `SKILLCELL_KERNEL_RUNTIME` name the engine's OCI runtimes for
 * the levels container and kernel.
 */
export function cliRunners({ env }: Pick<CliIo, 'env'>): Runner[] {
  const flavor = env['SKILLCELL_IMAGE_FLAVOR'] || 'slim';
  if (!isFlavor(flavor)) {
    const message = `Cannot choose the image: SKILLCELL_IMAGE_FLAVOR is ${IMAGE_FLAVORS.join(' or ')}, got ${JSON.stringify(flavor)}.`;
    throw new SkillcellError('usage.invalid', message);
  }
  const runtime = env['SKILLCELL_RUNTIME'] || undefined;
  const kernelRuntime = env['SKILLCELL_KERNEL_RUNTIME'] || undefined;
  const host = env['DOCKER_HOST'] || undefined;
  const docker = openDockerRunner({
    flavor,
    ...(runtime === undefined ? {} : { runtime }),
    ...(kernelRuntime === undefined ? {} : { kernelRuntime }),
    ...(host === undefined ? {} : { host }),
  });
  return [docker, createLocalRunner()];
}

function isFlavor(name: string): name is ImageFlavor {
  return (IMAGE_FLAVORS as readonly string[]).includes(name);
}
