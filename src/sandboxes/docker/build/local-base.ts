import { createHash } from 'node:crypto';
import type Docker from 'dockerode';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { callEngine } from '../engine/engine.ts';
import { followProgress } from './follow-progress.ts';
import { imagePackages } from './image-packages.ts';
import { imageId } from './image.ts';

/** The Debian release of a base image, and of a bare machine. */
export const DEBIAN_RELEASE = 'bookworm';
/** The supervisor's tools, besides the packages of the languages. */
const TOOLS = ['coreutils', 'procps', 'util-linux'];
const IMPORT_MS = 10 * 60_000;

/**
 * Builds a base image without a registry: a minimal Debian from its packages. Each list of packages is built once.
 *
 * @returns the name of the image
 * @throws SkillcellError `image.build-failed`
 */
export async function localBase(engine: Docker, onProgress: (line: string) => void): Promise<string> {
  const packages = [...new Set([...TOOLS, ...imagePackages('slim')])].toSorted();
  const tag = createHash('sha256')
    .update([DEBIAN_RELEASE, ...packages].join(' '))
    .digest('hex')
    .slice(0, 16);
  const name = `skillcell-base:${tag}`;
  if ((await imageId(engine, name)) !== undefined) {
    onProgress(`base: ${name}, already here`);
    return name;
  }
  await requireMmdebstrap();
  onProgress(`base: making ${name} with mmdebstrap, about a minute`);
  const { execa } = await import('execa');
  const maker = execa(
    'mmdebstrap',
    ['--variant=minbase', `--include=${packages.join(',')}`, '--quiet', DEBIAN_RELEASE, '-'],
    {
      stdout: 'pipe',
      buffer: { stdout: false },
      encoding: 'buffer',
      reject: false,
    },
  );
  // Without a name at first: an incomplete image of a failed build must not be used.
  const imported = callEngine(
    'import the base image',
    (abortSignal) => engine.importImage(maker.stdout as unknown as NodeJS.ReadableStream, { abortSignal }),
    IMPORT_MS,
  );
  const [importing, making] = await Promise.allSettled([imported, maker]);
  if (making.status === 'rejected') throw unmade(making.reason);
  const id =
    importing.status === 'fulfilled' ? await followProgress(engine, importing.value, () => undefined) : undefined;
  if (making.value.failed) {
    // If the removal fails, the engine keeps a few bytes without a name.
    if (id !== undefined)
      await engine
        .getImage(id)
        .remove()
        .catch(() => undefined);
    throw unmade(Buffer.from(making.value.stderr).toString().trim().split('\n').at(-1) ?? 'mmdebstrap failed');
  }
  if (id === undefined) throw (importing as PromiseRejectedResult).reason;
  await callEngine('name the base image', (abortSignal) =>
    engine.getImage(id).tag({ repo: 'skillcell-base', tag, abortSignal }),
  );
  return name;
}

function unmade(reason: unknown): SkillcellError {
  return new SkillcellError('image.build-failed', `Cannot make a base image: ${String(reason).slice(-500)}.`);
}

async function requireMmdebstrap(): Promise<void> {
  const { execa } = await import('execa');
  const { failed } = await execa('mmdebstrap', ['--version'], { reject: false, stdin: 'ignore' });
  if (!failed) return;
  throw new SkillcellError('image.build-failed', 'Cannot make a base image: mmdebstrap is not installed.', {
    hint: 'Install mmdebstrap (`apt-get install mmdebstrap`) and build as root, or name an image with --base.',
  });
}
