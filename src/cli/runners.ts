import { createDockerRunner } from '../runners/docker/docker-runner.ts';
import { createLocalRunner } from '../runners/local/local-runner.ts';
import type { Runner } from '../runners/runner.ts';
import type { CliIo } from './cli-io.ts';

/**
 * The runners of this command line, in the order in which `auto` looks at them. Nothing connects before a job does.
 * `SKILLCELL_IMAGE_FLAVOR` chooses the image, `SKILLCELL_KERNEL_RUNTIME` names the engine's runtime for level kernel.
 */
export function cliRunners({ env }: Pick<CliIo, 'env'>): Runner[] {
  const flavor = env['SKILLCELL_IMAGE_FLAVOR'] === 'data' ? 'data' : 'slim';
  const kernelRuntime = env['SKILLCELL_KERNEL_RUNTIME'];
  const host = env['DOCKER_HOST'];
  const docker = createDockerRunner({
    flavor,
    ...(kernelRuntime === undefined || kernelRuntime === '' ? {} : { kernelRuntime }),
    ...(host === undefined || host === '' ? {} : { host }),
  });
  return [docker, createLocalRunner()];
}
