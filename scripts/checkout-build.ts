import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** An outdated build may still be in use. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Something that a checkout builds from its sources at first use. */
export interface CheckoutBuild {
  /** Folder of the builds. */
  cache: string;
  /** Files and folders of the checkout that it is made from. */
  sources: readonly string[];
  /** A file that every whole build has. */
  mark: string;
  /**
   * Builds into a folder that does not exist yet.
   *
   * @returns a name made from the digest of the build
   */
  build(folder: string): Promise<string>;
}

interface Current {
  /** Digest over names, sizes and times of the sources. */
  fingerprint: string;
  /** Name of the build's folder. */
  folder: string;
}

/**
 * The current build of this checkout, made again if a source has changed. Builds are stored side by side under names made from their digests, so that
 * several processes may build and use them at once.
 *
 * @returns the folder of the build
 */
export async function checkoutBuild({ cache, sources, mark, build }: CheckoutBuild): Promise<string> {
  const fingerprint = await fingerprintOf(sources);
  const current = await readCurrent(join(cache, 'current.json'));
  if (current?.fingerprint === fingerprint && existsSync(join(cache, current.folder, mark))) {
    return join(cache, current.folder);
  }
  await mkdir(cache, { recursive: true });
  const folder = await buildInto(cache, { mark, build });
  const pointer = join(cache, `current.json.${randomUUID()}`);
  await writeFile(pointer, JSON.stringify({ fingerprint, folder } satisfies Current));
  await rename(pointer, join(cache, 'current.json'));
  await removeOld(cache, folder);
  return join(cache, folder);
}

async function buildInto(cache: string, { mark, build }: Pick<CheckoutBuild, 'mark' | 'build'>): Promise<string> {
  const fresh = join(cache, `new-${randomUUID()}`);
  const name = await build(fresh);
  try {
    await rename(fresh, join(cache, name));
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another process was faster with the same bytes.
    if (!existsSync(join(cache, name, mark))) throw error;
  }
  return name;
}

async function fingerprintOf(sources: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) {
    const path = join(root, source);
    const below = (await stat(path)).isDirectory() ? await readdir(path, { recursive: true }) : [''];
    const rows = below.filter((name) => !name.includes('__pycache__')).toSorted();
    const states = await Promise.all(rows.map((name) => stat(join(path, name))));
    for (const [index, state] of states.entries()) {
      if (state.isFile()) hash.update(`${source}/${rows[index]} ${state.size} ${state.mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

async function readCurrent(path: string): Promise<Current | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Current;
  } catch {
    // There is no build yet.
    return undefined;
  }
}

async function removeOld(cache: string, current: string): Promise<void> {
  for (const entry of await readdir(cache, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === current) continue;
    const path = join(cache, entry.name);
    const state = await stat(path).catch(() => undefined);
    if (state !== undefined && Date.now() - state.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}
