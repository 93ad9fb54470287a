import type Docker from 'dockerode';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { callEngine, isGone } from './engine.ts';

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
    throw new SkillcellError('image.missing', `Cannot start a container: the engine has no image, got no ${tag}.`, {
      hint: `Build the image of the sandboxes: \`${buildCommand(flavor)}\`.`,
    });
  }
  // The engine sends null for no labels.
  const digest = (image.Labels as Record<string, string> | null)?.[BUNDLE_LABEL];
  if (digest !== bundleDigest) {
    throw new SkillcellError(
      'image.stale',
      `Cannot start a container: ${tag} holds another runtime bundle, got ${digest ?? 'none'}.`,
      { hint: `The image holds another version of the runtime. Build it again: \`${buildCommand(flavor)}\`.` },
    );
  }
  return image.Id;
}

function buildCommand(flavor: ImageFlavor): string {
  return `skillcell image build${flavor === 'slim' ? '' : ` --flavor ${flavor}`}`;
}

/** Whether the engine has an image of this name. */
export async function hasImage(engine: Docker, name: string): Promise<boolean> {
  try {
    await callEngine('look for an image', () => engine.getImage(name).inspect());
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
