import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The sources of the bundle. */
const SOURCES = [
  'runtime',
  'src/contracts',
  'src/protocol',
  'src/skills',
  'scripts/check-language.ts',
  'scripts/build-runtime.ts',
  'scripts/loose-folders.ts',
  'package-lock.json',
];
/** An outdated bundle may still serve jobs. */
const KEPT_MS = 24 * 60 * 60 * 1000;

interface Current {
  /** Digest over names, sizes and times of the sources. */
  fingerprint: string;
  /** Name of the bundle's folder. */
  folder: string;
}

/**
 * The runtime bundle of this checkout, rebuilt if a source has changed. Bundles are stored side by side under names made from their digests, so that
 * several processes may build and use them at once.
 *
 * @param cache folder of the bundles
 * @returns the folder of the current bundle
 */
export async function checkoutRuntime(cache: string = join(root, '.toolchain', 'runtime')): Promise<string> {
  const fingerprint = await fingerprintSources();
  const current = await readCurrent(join(cache, 'current.json'));
  if (current?.fingerprint === fingerprint && existsSync(join(cache, current.folder, 'manifest.json'))) {
    return join(cache, current.folder);
  }
  await mkdir(cache, { recursive: true });
  const folder = await buildInto(cache);
  const pointer = join(cache, `current.json.${randomUUID()}`);
  await writeFile(pointer, JSON.stringify({ fingerprint, folder } satisfies Current));
  await rename(pointer, join(cache, 'current.json'));
  await removeOld(cache, folder);
  return join(cache, folder);
}

async function buildInto(cache: string): Promise<string> {
  const { buildRuntime } = await import('./build-runtime.ts');
  const fresh = join(cache, `new-${randomUUID()}`);
  const { digest } = await buildRuntime(fresh);
  const name = digest.replace('sha256:', '').slice(0, 24);
  try {
    await rename(fresh, join(cache, name));
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Another process was faster with the same bytes.
    if (!existsSync(join(cache, name, 'manifest.json'))) throw error;
  }
  return name;
}

async function fingerprintSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
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
    // There is no bundle yet.
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
