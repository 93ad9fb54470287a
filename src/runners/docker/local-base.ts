import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { execa } from 'execa';
import type Docker from 'dockerode';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { callEngine } from './engine.ts';

const RELEASE = 'bookworm';
const PACKAGES = ['bash', 'coreutils', 'procps', 'python3', 'util-linux'];
const IMPORT_MS = 10 * 60_000;

/**
 * Makes a base image without a registry: a minimal Debian from its packages. Made once for each list of packages.
 *
 * @returns its name
 * @throws SkillcellError `image.build-failed`
 */
export async function localBase(engine: Docker, onProgress: (line: string) => void): Promise<string> {
  const tag = createHash('sha256')
    .update([RELEASE, ...PACKAGES].join(' '))
    .digest('hex')
    .slice(0, 16);
  const name = `skillcell-base:${tag}`;
  try {
    await callEngine('look for the base image', () => engine.getImage(name).inspect());
    onProgress(`base: ${name}, already here`);
    return name;
  } catch {
    // Not made yet.
  }
  await requireMmdebstrap();
  onProgress(`base: making ${name} with mmdebstrap, about a minute`);
  const maker = execa('mmdebstrap', ['--variant=minbase', `--include=${PACKAGES.join(',')}`, '--quiet', RELEASE, '-'], {
    stdout: 'pipe',
    buffer: { stdout: false },
    encoding: 'buffer',
  });
  const imported = callEngine(
    'import the base image',
    (abortSignal) =>
      engine.importImage(maker.stdout as unknown as NodeJS.ReadableStream, {
        repo: 'skillcell-base',
        tag,
        abortSignal,
      }),
    IMPORT_MS,
  );
  try {
    const [stream] = await Promise.all([imported, maker]);
    await new Promise<void>((resolve, reject) => {
      engine.modem.followProgress(stream, (error: Error | null) => (error === null ? resolve() : reject(error)));
    });
  } catch (cause) {
    const reason = (cause as Error).message.slice(-500);
    throw new SkillcellError('image.build-failed', `Cannot make a base image: ${reason}.`, { cause });
  }
  return name;
}

async function requireMmdebstrap(): Promise<void> {
  try {
    await access('/usr/bin/mmdebstrap');
  } catch (cause) {
    throw new SkillcellError('image.build-failed', 'Cannot make a base image: mmdebstrap is not installed.', {
      cause,
      hint: 'Install mmdebstrap (`apt-get install mmdebstrap`), or name an image with --base.',
    });
  }
}
