import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connectEngine } from '../../src/sandboxes/docker/engine/engine.ts';
import { findImage } from '../../src/sandboxes/docker/build/image.ts';
import { topFolders } from '../../src/sandboxes/local/namespace-command.ts';
import { cachedRuntime } from '../../src/sandboxes/local/runtime-cache.ts';
import { ensureRuntime } from '../../src/sandboxes/runtime-bundle.ts';

/** The files that a plain run sees: the files of this machine, or of the containers' image. */
export interface PlainPlace {
  /** The folder whose content the run sees at `/`. */
  root: string;
  /** The run's Node: its path on this machine, and its path for the run. */
  node: { source: string; path: string };
  /** The run's PATH, as in a job. */
  searchPath: string;
  /** The folder of `workspace`, `value` and `skills`. */
  folder: string;
  /** The run's TMPDIR. */
  temporary: string;
}

const IN_SANDBOX = { folder: '/', temporary: '/tmp' } as const;

/** This machine as level namespace shows it. */
export async function hostPlace(): Promise<PlainPlace> {
  return {
    ...IN_SANDBOX,
    root: '/',
    node: { source: await readableNode(), path: '/opt/skillcell/bin/node' },
    searchPath: '/usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin',
  };
}

/** This machine as level none shows it: with the Node that runs skillcell, in a folder whose name is as long as the name of a job's folder. */
export async function unisolatedPlace(): Promise<PlainPlace> {
  return {
    root: '/',
    node: { source: await readableNode(), path: process.execPath },
    searchPath: `/usr/local/bin:/usr/bin:/bin:${dirname(process.execPath)}`,
    folder: join(tmpdir(), 'skillcell-0123456789ab-4026531836-12345-1234567-0123456789ab'),
    temporary: join(tmpdir(), 'skillcell-0123456789ab'),
  };
}

/** A copy of the Node that runs skillcell. Every account can read it. */
async function readableNode(): Promise<string> {
  return join(await cachedRuntime(await ensureRuntime()), 'bin', 'node');
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
    ...IN_SANDBOX,
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

/** The arguments by which bubblewrap shows a place's programs and its `/etc`. */
export function placeOptions({ root, node }: PlainPlace): string[] {
  return [
    ...['usr', 'etc'].flatMap((name) => ['--ro-bind', join(root, name), `/${name}`]),
    ...topFolders(root),
    ...(node.path.startsWith('/usr/') ? [] : ['--ro-bind', node.source, node.path]),
  ];
}
