import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import {
  chmod,
  copyFile,
  cp,
  link,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolders } from '../../durable/make-folders.ts';
import { defaultCacheFolder } from '../../durable/user-folders.ts';
import { pruneRuntimeCache } from './prune-runtime-cache.ts';
import { seccompBpf } from '../seccomp/seccomp-bpf.ts';
import type { RuntimeBundle } from '../runtime-bundle.ts';

/**
 * The folder with Node and the runtime bundle for sandboxes of level namespace. It is a copy that an unprivileged process can
 * read, wherever the checkout is. If uid 0 creates it, only root can write it.
 */
export async function cachedRuntime(bundle: RuntimeBundle, cacheRoot: string = defaultCacheRoot()): Promise<string> {
  const key = `${cacheRoot} ${bundle.digest}`;
  const earlier = found.get(key);
  if (earlier !== undefined && knownIdentity(earlier.folder, bundle) === earlier.identity) return earlier.folder;
  const search = searches.get(key) ?? findOrCopy(bundle, cacheRoot).finally(() => searches.delete(key));
  searches.set(key, search);
  const folder = await search;
  found.set(key, { folder, identity: identityOf(folder, bundle) });
  return folder;
}

/** Searches under way: concurrent starts create one copy, and none removes the copy of another. */
const searches = new Map<string, Promise<string>>();

/**
 * Folders of this process with their identity after a check of all bytes. A process runs one Node and one version of the bundle for
 * its whole life.
 */
const found = new Map<string, { folder: string; identity: string }>();

async function findOrCopy(bundle: RuntimeBundle, cacheRoot: string): Promise<string> {
  const nodeId = await nodeDigest(cacheRoot);
  const filter = seccompBpf(process.arch === 'arm64' ? 'arm64' : 'x64');
  const name = createHash('sha256').update(bundle.digest).update(nodeId).update(filter).digest('hex').slice(0, 32);
  const folder = join(cacheRoot, name);
  if (isIntact(folder, bundle, filter)) {
    await markUsed(folder);
    return folder;
  }

  makeFolders(cacheRoot, 0o755);
  const fresh = await mkdtemp(join(cacheRoot, '.new-'));
  try {
    await cp(bundle.folder, fresh, { recursive: true });
    await mkdir(join(fresh, 'bin'), { recursive: true });
    await placeNode(cacheRoot, nodeId, join(fresh, 'bin', 'node'));
    await writeFile(join(fresh, FILTER), filter);
    await mkdir(join(fresh, CODE_CACHE));
    const { execa } = await import('execa');
    // If this fails, every start compiles the entry again: slower, but otherwise the same.
    await execa(join(fresh, 'bin', 'node'), [join(fresh, 'compile-ahead.cjs'), join(fresh, CODE_CACHE)], {
      timeout: COMPILE_MS,
      reject: false,
      stdio: 'ignore',
    });
    await makeReadable(fresh);
    await writeFile(join(fresh, COMPLETE), identityOf(fresh, bundle));
    // Another process may have finished first and may use its copy already.
    if (!isIntact(folder, bundle, filter)) await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder).catch(async (error: unknown) => {
      // Another process has created an equal copy.
      if (!isIntact(folder, bundle, filter)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  await markUsed(folder);
  await pruneRuntimeCache(cacheRoot);
  return folder;
}

/** Updates the time for {@link pruneRuntimeCache}. The cache of another user keeps its times. */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
}

/** All versions of the bundle share one copy of Node, which takes 100 MB on disk and in memory only once. */
async function placeNode(cacheRoot: string, digest: string, target: string): Promise<void> {
  const shared = join(cacheRoot, `node-binary-${digest.slice(0, 32)}`);
  if (!existsSync(shared) || (await fileDigest(shared)) !== digest) {
    const copy = `${shared}.${randomUUID()}`;
    try {
      await copyFile(process.execPath, copy);
      if ((await fileDigest(copy)) !== digest) throw new Error('Node changed while it was copied');
      await rename(copy, shared);
    } finally {
      await rm(copy, { force: true });
    }
  }
  try {
    await link(shared, target);
  } catch {
    // The file system may lack hard links, or their number may be exhausted.
    await copyFile(shared, target);
  }
}

const COMPILE_MS = 30_000;
const COMPLETE = '.complete';
/** Folder with V8's code cache of the entry and its packages. */
export const CODE_CACHE = 'code-cache';
const FILTER = 'seccomp.bpf';

function defaultCacheRoot(): string {
  if (process.getuid?.() === 0) return '/var/cache/skillcell';
  return defaultCacheFolder();
}

/** True if the copy is complete and unchanged, and holds the bytes of the bundle and of the filter. */
function isIntact(folder: string, bundle: RuntimeBundle, filter: Uint8Array): boolean {
  try {
    if (knownIdentity(folder, bundle) === undefined) return false;
    if (!readFileSync(join(folder, FILTER)).equals(filter)) return false;
    const digest = (path: string): string =>
      createHash('sha256')
        .update(readFileSync(join(folder, path)))
        .digest('hex');
    return Object.entries(bundle.files).every(([path, wanted]) => digest(path) === wanted);
  } catch {
    // Missing or incomplete.
    return false;
  }
}

/** The recorded identity of the copy, if it is still true. */
function knownIdentity(folder: string, bundle: RuntimeBundle): string | undefined {
  try {
    const identity = identityOf(folder, bundle);
    return readFileSync(join(folder, COMPLETE), 'utf8') === identity ? identity : undefined;
  } catch {
    // A file is missing.
    return undefined;
  }
}

/** Size, inode, modification time and owner of all files: a change of their bytes changes it. */
function identityOf(folder: string, bundle: RuntimeBundle): string {
  const lines: string[] = [];
  const compiled = readdirSync(join(folder, CODE_CACHE)).map((name) => `${CODE_CACHE}/${name}`);
  for (const file of ['bin/node', FILTER, ...Object.keys(bundle.files), ...compiled]) {
    const status = statSync(join(folder, file), { bigint: true });
    lines.push(`${file} ${status.size} ${status.ino} ${status.mtimeNs} ${status.uid}`);
  }
  return lines.join('\n');
}

/** Digest of the Node of this process, computed once per version of the file. */
async function nodeDigest(cacheRoot: string): Promise<string> {
  const status = await stat(process.execPath, { bigint: true });
  const identity = `${process.execPath} ${status.size} ${status.ino} ${status.mtimeNs}`;
  const note = join(cacheRoot, `node-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`);
  try {
    return await readFile(note, 'utf8');
  } catch {
    // Not computed yet.
    const digest = await fileDigest(process.execPath);
    makeFolders(cacheRoot, 0o755);
    await writeFile(`${note}.${process.pid}`, digest);
    await rename(`${note}.${process.pid}`, note);
    return digest;
  }
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await makeReadable(path);
    else await chmod(path, entry.name === 'node' ? 0o755 : 0o644);
  }
}
