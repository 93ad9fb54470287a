import type Docker from 'dockerode';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { callEngine, CALL_MS, isGone } from '../engine/engine.ts';
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
  const inspect = (name: string): Promise<InspectedImage | undefined> => inspectImage(engine, name, signal);
  const image = await inspect(imageName(flavor, bundleDigest));
  if (image !== undefined && bundleOf(image) === bundleDigest) return image.Id;
  const newest = `${IMAGE_NAME}:${flavor}`;
  const other = await inspect(newest);
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
  return (await inspectImage(engine, name))?.Id;
}

interface InspectedImage {
  Id: string;
  /** Both may be null. */
  Config?: { Labels?: Record<string, string> | null } | null;
}

function bundleOf({ Config }: InspectedImage): string {
  return Config?.Labels?.[BUNDLE_LABEL] ?? 'none';
}

/** Inspects one image, or returns undefined. The engine lists images slowly: it computes the sizes of all of them first. */
async function inspectImage(engine: Docker, name: string, signal?: AbortSignal): Promise<InspectedImage | undefined> {
  try {
    return await callEngine(
      'look for an image',
      (abortSignal) => requestImage(engine, name, abortSignal),
      CALL_MS,
      signal,
    );
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** As `getImage(name).inspect()` of the client, which takes no signal. */
function requestImage(engine: Docker, name: string, abortSignal: AbortSignal): Promise<InspectedImage> {
  const { promise, resolve, reject } = Promise.withResolvers<InspectedImage>();
  const request = { path: `/images/${name}/json`, method: 'GET', statusCodes: { 200: true }, abortSignal };
  (engine.modem as ImageModem).dial(request, (error, image) => (error ? reject(error) : resolve(image)));
  return promise;
}

interface ImageModem {
  dial(request: object, answer: (error: Error | null, image: InspectedImage) => void): void;
}
