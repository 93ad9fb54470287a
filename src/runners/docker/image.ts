import type Docker from 'dockerode';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { callEngine } from './engine.ts';

/** Which programs an image brings: `slim` the interpreters, `data` packages for analysis as well. */
export type ImageFlavor = 'slim' | 'data';

/** Name of the images without their tag, which is the flavor. */
export const IMAGE_NAME = 'skillcell-sandbox';
/** Label of an image with the digest of the runtime bundle in it. */
export const BUNDLE_LABEL = 'skillcell.bundle';

/**
 * The id of the image for a flavor. It is used by id, so that a tag that moves changes nothing.
 *
 * @throws SkillcellError `image.missing`, or `image.stale` when its entry is not this host's
 */
export async function findImage(engine: Docker, flavor: ImageFlavor, bundleDigest: string): Promise<string> {
  const tag = `${IMAGE_NAME}:${flavor}`;
  const found = await callEngine('look for the image', (abortSignal) =>
    engine.listImages({ abortSignal, filters: { reference: [tag] } }),
  );
  const image = found[0];
  if (image === undefined) {
    throw new SkillcellError('image.missing', `Cannot start a container: the engine has no image, got no ${tag}.`);
  }
  // The engine sends null for no labels.
  const digest = (image.Labels as Record<string, string> | null)?.[BUNDLE_LABEL];
  if (digest !== bundleDigest) {
    throw new SkillcellError(
      'image.stale',
      `Cannot start a container: ${tag} holds another runtime bundle, got ${digest ?? 'none'}.`,
    );
  }
  return image.Id;
}
