import type Docker from 'dockerode';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { callEngine, CALL_MS } from '../engine/engine.ts';
import type { ImageFlavor } from '../image-flavor.ts';

/** Name of the images without the tag. */
export const IMAGE_NAME = 'skillcell-sandbox';
/** Label of an image with the digest of the runtime bundle in it. */
export const BUNDLE_LABEL = 'skillcell.bundle';

/** The name of the image with this flavor and bundle. `<IMAGE_NAME>:<flavor>` is the newest of a flavor. */
export function imageName(flavor: ImageFlavor, bundleDigest: string): string {
  return `${IMAGE_NAME}:${flavor}-${bundleDigest.replace('sha256:', '').slice(0, 16)}`;
}

/**
 * The id of the image with this flavor and bundle. Containers use the id, so a moved tag changes nothing, and two versions of
 * skillcell can share an engine.
 *
 * @throws SkillcellError `image.missing`, or `image.stale` if there are only images with another bundle
 */
export async function findImage(
  engine: Docker,
  flavor: ImageFlavor,
  bundleDigest: string,
  signal?: AbortSignal,
): Promise<string> {
  const list = async (name: string): Promise<Docker.ImageInfo[]> =>
    await callEngine(
      'look for the image',
      (abortSignal) => engine.listImages({ abortSignal, filters: { reference: [name] } }),
      CALL_MS,
      signal,
    );
  // The engine sends null if there are no labels.
  const bundleOf = (image: Docker.ImageInfo | undefined): string =>
    (image?.Labels as Record<string, string> | null | undefined)?.[BUNDLE_LABEL] ?? 'none';
  const [image] = await list(imageName(flavor, bundleDigest));
  if (image !== undefined && bundleOf(image) === bundleDigest) return image.Id;
  const newest = `${IMAGE_NAME}:${flavor}`;
  const [other] = await list(newest);
  const command = buildCommand(flavor);
  if (other === undefined) {
    throw new SkillcellError('image.missing', `Cannot start a container: the engine has no image ${newest}.`, {
      hint: `Build the image of the sandboxes: \`${command}\`.`,
    });
  }
  // A loaded or pulled image has only this name.
  if (bundleOf(other) === bundleDigest) return other.Id;
  const message = `Cannot start a container: ${newest} holds another runtime bundle, got ${bundleOf(other)}.`;
  throw new SkillcellError('image.stale', message, {
    hint: `The image holds another version of the runtime. Build it again: \`${command}\`.`,
  });
}

function buildCommand(flavor: ImageFlavor): string {
  return `skillcell image build${flavor === 'slim' ? '' : ` --flavor ${flavor}`}`;
}

/** The id of an image by name, or undefined. */
export async function imageId(engine: Docker, name: string): Promise<string | undefined> {
  const [image] = await callEngine('look for an image', (abortSignal) =>
    engine.listImages({ abortSignal, filters: { reference: [name] } }),
  );
  return image?.Id;
}
