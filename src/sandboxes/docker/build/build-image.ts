import { inPackage } from '../../../contracts/package-root.ts';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { pack } from 'tar-stream';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { RuntimeBundle } from '../../runtime-bundle.ts';
import { checkEngine } from '../engine/check-engine.ts';
import { callEngine } from '../engine/engine.ts';
import { followProgress } from './follow-progress.ts';
import { IMAGE_NAME, imageId, imageName } from './image.ts';
import type { ImageFlavor } from '../image-flavor.ts';
import { imagePackages } from './image-packages.ts';
import { localBase } from './local-base.ts';

const OFFICIAL_BASE = 'node:24-bookworm-slim';
/** A registry without an answer in this time counts as missing. */
const PULL_MS = 20_000;
const BUILD_MS = 30 * 60_000;

/** Options of {@link buildImage}. */
export interface BuildImageOptions {
  flavor: ImageFlavor;
  /** Base image. Default: the official one if it is available, else one built here. */
  base?: string;
  bundle: RuntimeBundle;
  /** Called with each line of the progress. */
  onProgress(line: string): void;
}

/**
 * Builds the image of the sandboxes. Layers of an earlier build with the same inputs are reused.
 *
 * @returns the id of the image
 * @throws SkillcellError `image.build-failed`, `engine.unavailable`, `engine.failed`, `runner.isolation-unmet`
 */
export async function buildImage(engine: Docker, options: BuildImageOptions): Promise<string> {
  const { flavor, bundle, onProgress } = options;
  // Check the engine before any request to a registry.
  await checkEngine(engine);
  const base = options.base ?? (await chooseBase(engine, onProgress));
  const needsNode = base.startsWith('skillcell-base:');
  onProgress(`building ${IMAGE_NAME}:${flavor} on ${base}`);
  const context = await packContext(bundle, needsNode);
  const name = imageName(flavor, bundle.digest);
  const output = await callEngine(
    'build the image',
    (abortSignal) =>
      engine.buildImage(context, {
        t: name,
        buildargs: {
          BASE: base,
          FLAVOR: flavor,
          PACKAGES: imagePackages(flavor).join(' '),
          BUNDLE_DIGEST: bundle.digest,
        },
        forcerm: true,
        abortSignal,
      }),
    BUILD_MS,
  );
  await followProgress(engine, output, onProgress);
  await callEngine('name the image', (abortSignal) =>
    engine.getImage(name).tag({ repo: IMAGE_NAME, tag: flavor, abortSignal }),
  );
  const id = await imageId(engine, name);
  if (id === undefined)
    throw new SkillcellError(
      'image.build-failed',
      `Cannot build the image ${name}: the engine lost it after the build.`,
    );
  return id;
}

async function chooseBase(engine: Docker, onProgress: (line: string) => void): Promise<string> {
  if ((await imageId(engine, OFFICIAL_BASE)) !== undefined) {
    onProgress(`base: ${OFFICIAL_BASE}, already here`);
    return OFFICIAL_BASE;
  }
  try {
    onProgress(`base: asking the registry for ${OFFICIAL_BASE}`);
    const stream = await callEngine(
      'pull the base image',
      (abortSignal) => engine.pull(OFFICIAL_BASE, { abortSignal }),
      PULL_MS,
    );
    await followProgress(engine, stream, onProgress);
    onProgress(`base: ${OFFICIAL_BASE}, from the registry`);
    return OFFICIAL_BASE;
  } catch (error) {
    onProgress(`base: no registry (${(error as Error).message.slice(0, 120)}), so it is built from Debian packages`);
    return await localBase(engine, onProgress);
  }
}

/** Packs the build context with fixed times and owners, so that the same inputs give the same layers. */
async function packContext(bundle: RuntimeBundle, withNode: boolean): Promise<NodeJS.ReadableStream> {
  const archive = pack();
  const add = (name: string, bytes: Buffer, mode: number): void => {
    archive.entry({ name, mode, mtime: new Date(0), uid: 0, gid: 0 }, bytes);
  };
  add('Dockerfile', await readFile(inPackage('docker/Dockerfile')), 0o644);
  archive.entry({ name: 'local', type: 'directory', mode: 0o755, mtime: new Date(0) });
  if (withNode) add('local/node', await readFile(process.execPath), 0o755);
  const names = await readdir(bundle.folder, { recursive: true, withFileTypes: true });
  const paths = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.toSorted()) add(`runtime${path.slice(bundle.folder.length)}`, await readFile(path), 0o644);
  archive.finalize();
  return archive as unknown as NodeJS.ReadableStream;
}
