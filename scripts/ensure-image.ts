import type Docker from 'dockerode';
import { buildImage } from '../src/sandboxes/docker/build/build-image.ts';
import { findImage } from '../src/sandboxes/docker/build/image.ts';
import type { RuntimeBundle } from '../src/sandboxes/runtime-bundle.ts';

/** Builds the image of sandboxes if it is missing, or has another runtime. */
export async function ensureImage(
  engine: Docker,
  bundle: RuntimeBundle,
  onProgress: (line: string) => void,
): Promise<void> {
  try {
    await findImage(engine, 'slim', bundle.digest);
  } catch {
    await buildImage(engine, { flavor: 'slim', bundle, onProgress });
  }
}
