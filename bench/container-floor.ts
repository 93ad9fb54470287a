import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { SkillcellError } from '../src/contracts/errors/skillcell-error.ts';
import { buildImage } from '../src/sandboxes/docker/build/build-image.ts';
import { connectEngine } from '../src/sandboxes/docker/engine/engine.ts';
import { findImage } from '../src/sandboxes/docker/build/image.ts';
import type { ImageFlavor } from '../src/sandboxes/docker/image-flavor.ts';
import { ensureRuntime } from '../src/sandboxes/runtime-bundle.ts';

/** Id of the baseline measured by {@link containerFloor}. */
export const CONTAINER_FLOOR = 'docker.floor';

/** The engine and the image that both sides of a comparison use. */
export interface Engine {
  docker: Docker;
  image: string;
}

/**
 * Connects to the engine, and builds the image of the sandboxes if it is missing.
 *
 * @throws SkillcellError `engine.unavailable`
 */
export async function benchEngine(progress: (text: string) => void, flavor: ImageFlavor = 'slim'): Promise<Engine> {
  const docker = await connectEngine();
  const bundle = await ensureRuntime();
  try {
    return { docker, image: await findImage(docker, flavor, bundle.digest) };
  } catch (error) {
    if (!SkillcellError.isInstance(error) || !error.code.startsWith('image.')) throw error;
    return { docker, image: await buildImage(docker, { flavor, bundle, onProgress: progress }) };
  }
}

/** Milliseconds of the minimal work for a container: create, attach, start the same image until a program of one line answers, and remove it. */
export async function containerFloor({ docker, image }: Engine): Promise<number> {
  const started = performance.now();
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['/usr/local/bin/node', '-e', 'console.log(42)'],
    NetworkDisabled: true,
    HostConfig: { NetworkMode: 'none' },
  });
  try {
    const stream = (await container.attach({ stream: true, stdout: true, hijack: true })) as Duplex;
    await container.start();
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
  } finally {
    await container.remove({ force: true });
  }
  return performance.now() - started;
}
