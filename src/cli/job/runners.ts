import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { openDockerRunner } from '../../sandboxes/docker/docker-runner.ts';
import { IMAGE_FLAVORS, type ImageFlavor } from '../../sandboxes/docker/image-flavor.ts';
import { createLocalRunner } from '../../sandboxes/local/local-runner.ts';
import type { Runner } from '../../sandboxes/runner.ts';
import type { CliIo } from '../terminal/cli-io.ts';

/**
 * The runners of this command line, in the order in which `auto` looks at them. Nothing connects before a job does.
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
