import { spawn } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connectEngine } from '../../src/runners/docker/engine.ts';
import { findImage } from '../../src/runners/docker/image.ts';
import { cachedRuntime } from '../../src/runners/local/runtime-cache.ts';
import { ensureRuntime } from '../../src/runners/runtime-bundle.ts';

/** The files that a plain run sees: those of this machine, or those of the image that containers have. */
export interface PlainPlace {
  /** The folder whose content it sees at `/`. */
  root: string;
  /** Its Node, and where it sees that. */
  node: { source: string; path: string };
  /** Its PATH, as in a job. */
  searchPath: string;
}

/** This machine, with the Node of sandboxes where every account can read it. */
export async function hostPlace(): Promise<PlainPlace> {
  const folder = await cachedRuntime(await ensureRuntime());
  return {
    root: '/',
    node: { source: join(folder, 'bin', 'node'), path: '/opt/skillcell/bin/node' },
    searchPath: '/usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin',
  };
}

/**
 * The files of the image, unpacked.
 *
 * @throws SkillcellError `engine.unavailable`, `image.missing` or `image.stale`
 */
export async function openImagePlace(): Promise<PlainPlace & AsyncDisposable> {
  const engine = await connectEngine();
  const image = await findImage(engine, 'slim', (await ensureRuntime()).digest);
  const root = mkdtempSync(join(tmpdir(), 'fidelity-image-'));
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  const container = await engine.createContainer({ Image: image });
  try {
    await unpack((await container.export()) as Readable, root);
  } catch (error) {
    remove();
    throw error;
  } finally {
    await container.remove();
  }
  // Plain runs have an account of their own.
  chmodSync(root, 0o755);
  const node = '/usr/local/bin/node';
  return {
    root,
    node: { source: join(root, node), path: node },
    searchPath: '/usr/local/bin:/usr/bin:/bin',
    [Symbol.asyncDispose]: async () => remove(),
  };
}

async function unpack(archive: Readable, folder: string): Promise<void> {
  const tar = spawn('tar', ['-x', '-C', folder, '--exclude=dev/*'], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(tar, 'exit');
  await pipeline(archive, tar.stdin);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`Cannot unpack the image: tar ended with ${code}.`);
}

/** The arguments of bubblewrap that show a place's programs and its `/etc`. */
export function placeOptions({ root, node }: PlainPlace): string[] {
  const top = ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const path = join(root, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), `/${name}`] : ['--ro-bind', path, `/${name}`];
  });
  const isInside = existsSync(join(root, node.path));
  return [
    ...['usr', 'etc'].flatMap((name) => ['--ro-bind', join(root, name), `/${name}`]),
    ...top,
    ...(isInside ? [] : ['--ro-bind', node.source, node.path]),
  ];
}
