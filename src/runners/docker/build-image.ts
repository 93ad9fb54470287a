import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { pack } from 'tar-stream';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { RuntimeBundle } from '../runtime-bundle.ts';
import { callEngine } from './engine.ts';
import { IMAGE_NAME, type ImageFlavor } from './image.ts';
import { localBase } from './local-base.ts';

const OFFICIAL_BASE = 'node:24-bookworm-slim';
/** A registry that does not answer by then is taken as none. */
const PULL_MS = 20_000;
const BUILD_MS = 30 * 60_000;

/** Options of {@link buildImage}. */
export interface BuildImageOptions {
  flavor: ImageFlavor;
  /** Base image; without it the official one where it can be had, else one made here. */
  base?: string;
  bundle: RuntimeBundle;
  /** Told what happens, a line at a time. */
  onProgress(line: string): void;
}

/**
 * Builds the image of the sandboxes. Layers of an earlier build on the same inputs are used again.
 *
 * @returns the image's id
 * @throws SkillcellError `image.build-failed`, `engine.unavailable`
 */
export async function buildImage(engine: Docker, options: BuildImageOptions): Promise<string> {
  const { flavor, bundle, onProgress } = options;
  const base = options.base ?? (await chooseBase(engine, onProgress));
  const needsNode = base.startsWith('skillcell-base:');
  onProgress(`building ${IMAGE_NAME}:${flavor} on ${base}`);
  const context = await packContext(bundle, needsNode);
  const tag = `${IMAGE_NAME}:${flavor}`;
  const output = await callEngine(
    'build the image',
    (abortSignal) =>
      engine.buildImage(context, {
        t: tag,
        buildargs: { BASE: base, FLAVOR: flavor, BUNDLE_DIGEST: bundle.digest },
        forcerm: true,
        abortSignal,
      }),
    BUILD_MS,
  );
  await follow(engine, output, onProgress);
  const { Id } = await callEngine('look at the image', () => engine.getImage(tag).inspect());
  return Id;
}

async function chooseBase(engine: Docker, onProgress: (line: string) => void): Promise<string> {
  try {
    await callEngine('look for the base image', () => engine.getImage(OFFICIAL_BASE).inspect());
    onProgress(`base: ${OFFICIAL_BASE}, already here`);
    return OFFICIAL_BASE;
  } catch {
    // Not here: perhaps a registry has it.
  }
  try {
    onProgress(`base: asking the registry for ${OFFICIAL_BASE}`);
    const stream = await callEngine(
      'pull the base image',
      (abortSignal) => engine.pull(OFFICIAL_BASE, { abortSignal }),
      PULL_MS,
    );
    await follow(engine, stream, onProgress);
    return OFFICIAL_BASE;
  } catch (error) {
    onProgress(`base: no registry (${(error as Error).message.slice(0, 120)}), so one is made from Debian's packages`);
    return await localBase(engine, onProgress);
  }
}

interface BuildEvent {
  stream?: string;
  status?: string;
  error?: string;
}

/** Waits for the end of a build or a pull; what the engine says of an error is the error. */
async function follow(
  engine: Docker,
  output: NodeJS.ReadableStream,
  onProgress: (line: string) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let failure: string | undefined;
    const done = (error: Error | null): void => {
      const reason = error?.message ?? failure;
      if (reason === undefined) resolve();
      else reject(new SkillcellError('image.build-failed', `Cannot build the image: ${reason.trim().slice(-1_000)}.`));
    };
    const onEvent = ({ stream, error }: BuildEvent): void => {
      failure ??= error;
      const line = stream?.trim();
      if (line !== undefined && line !== '') onProgress(line);
    };
    engine.modem.followProgress(output, done, onEvent);
  });
}

/** What the Dockerfile copies, with fixed times and owners, so that the same inputs give the same layers. */
async function packContext(bundle: RuntimeBundle, withNode: boolean): Promise<NodeJS.ReadableStream> {
  const archive = pack();
  const add = (name: string, bytes: Buffer, mode: number): void => {
    archive.entry({ name, mode, mtime: new Date(0), uid: 0, gid: 0 }, bytes);
  };
  add('Dockerfile', await readFile(new URL('../../../docker/Dockerfile', import.meta.url)), 0o644);
  archive.entry({ name: 'local', type: 'directory', mode: 0o755, mtime: new Date(0) });
  if (withNode) add('local/node', await readFile(process.execPath), 0o755);
  const names = await readdir(bundle.folder, { recursive: true, withFileTypes: true });
  const paths = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.toSorted()) add(`runtime${path.slice(bundle.folder.length)}`, await readFile(path), 0o644);
  archive.finalize();
  return archive as unknown as NodeJS.ReadableStream;
}
