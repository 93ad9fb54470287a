import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync, renameSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { discard, removeTorn, tornPath } from '../../../durable/durable-file.ts';
import { removeTree } from '../../../durable/remove-tree.ts';
import { awaitUnclaimed } from '../cache/claims.ts';
import { type Leases, openLeases } from '../cache/leases.ts';
import { evictOldest } from '../cache/make-room.ts';
import { privateFolder } from '../cache/private-folder.ts';
import { gitEnvironment } from './git-environment.ts';
import { COMMAND_MS } from './git-limits.ts';
import { findGit } from './git-program.ts';
import { fetchRemote, type GitRemote, type RemoteRef } from './git-remote.ts';
import { GitFailure, runGit } from './run-git.ts';

const FETCHED = 'refs/skillcell/fetched';

/** A kept repository, which stays until its release. */
export interface HeldRepository {
  /** Absolute path. */
  folder: string;
  commit: string;
  release(): void;
}

/** Folders of the kept repositories, their leases and claims. */
interface KeptPlaces {
  all: string;
  leases: string;
  claims: string;
}

/**
 * The bare repository of one commit, fetched where it is not kept yet. It is made in a temporary folder and renamed, so that concurrent fetches
 * need no lock. A kept repository is verified before use, and fetched anew if it is damaged. Its folder name is a digest.
 *
 * @param cacheFolder of the cache
 * @throws SkillcellError `store.unavailable`, `source.refused`
 */
export async function repositoryOf(
  remote: GitRemote,
  ref: RemoteRef,
  cacheFolder: string,
  signal: AbortSignal | undefined,
): Promise<HeldRepository> {
  const places = openPlaces(cacheFolder);
  const leases = openLeases(places.leases);
  try {
    const kept = hold(places, leases, remote, ref.commit);
    if (await isWhole(kept, signal)) return { folder: kept, commit: ref.commit, release: leases.close };
    const commit = await fetchInto(places, leases, remote, ref, signal);
    evictOldest(entriesIn(places.all), places, remote.limits.keptBytes);
    return { folder: hold(places, leases, remote, commit), commit, release: leases.close };
  } catch (error) {
    leases.close();
    throw error;
  }
}

function openPlaces(cacheFolder: string): KeptPlaces {
  const cache = privateFolder(cacheFolder);
  return { all: privateFolder(join(cache, 'git')), leases: join(cache, 'leases'), claims: join(cache, 'claims') };
}

/** The folder of a commit, leased against eviction. */
function hold({ all, claims }: KeptPlaces, leases: Leases, { address }: GitRemote, commit: string): string {
  const name = `${nameOf(address.url)}-${commit}`;
  // In this order; see `claimTree`.
  leases.hold(name);
  awaitUnclaimed(claims, name);
  return join(all, name);
}

async function fetchInto(
  places: KeptPlaces,
  leases: Leases,
  remote: GitRemote,
  ref: RemoteRef,
  signal: AbortSignal | undefined,
): Promise<string> {
  removeTorn(places.all);
  const aside = tornPath(places.all);
  try {
    await makeEmpty(aside, ref.commit, signal);
    await fetchRemote(remote, ref, aside, FETCHED, signal);
    checkPack(aside, remote);
    const commit = await commitIn(aside, ref, signal);
    moveInto(aside, hold(places, leases, remote, commit));
    return commit;
  } finally {
    removeTree(aside);
  }
}

/** A digest of the address, which has no credential, so that folder names do not reveal addresses. */
function nameOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}

async function makeEmpty(folder: string, commit: string, signal: AbortSignal | undefined): Promise<void> {
  const format = commit.length === 64 ? 'sha256' : 'sha1';
  await local(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '--', folder], signal);
}

/** Usually the commit that the remote reported; a branch may have moved meanwhile. */
async function commitIn(folder: string, ref: RemoteRef, signal: AbortSignal | undefined): Promise<string> {
  if (readFileSync(join(folder, FETCHED), 'utf8').trim() === ref.commit) return ref.commit;
  const printed = await local(
    [`--git-dir=${folder}`, 'rev-parse', '--verify', '--end-of-options', `${FETCHED}^{commit}`],
    signal,
  );
  return printed.toString('latin1').trim();
}

async function local(args: readonly string[], signal: AbortSignal | undefined): Promise<Buffer> {
  try {
    return await run(args, signal);
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw unkept(args.find((each) => !each.startsWith('-')) ?? '', error);
  }
}

async function run(args: readonly string[], signal: AbortSignal | undefined): Promise<Buffer> {
  return await runGit({
    program: await findGit(),
    args,
    env: gitEnvironment({}),
    timeoutMs: COMMAND_MS,
    outputBytes: 1_000,
    fileBytes: 1024 * 1024,
    signal,
  });
}

function unkept(command: string, { words }: GitFailure): SkillcellError {
  const message = `Cannot keep the repository: git ${command} failed, got ${words.trim().slice(0, 200)}.`;
  return new SkillcellError('store.unavailable', message);
}

function checkPack(folder: string, { address: { url }, limits }: GitRemote): void {
  const packs = join(folder, 'objects', 'pack');
  let objects = 0;
  let bytes = 0;
  for (const name of readdirSync(packs).filter((each) => each.endsWith('.pack'))) {
    const path = join(packs, name);
    bytes += statSync(path).size;
    objects += objectsOf(path);
  }
  const [what, limit] = bytes > limits.bytes ? ['bytes', limits.bytes] : ['objects', limits.objects];
  if (bytes <= limits.bytes && objects <= limits.objects) return;
  throw new SkillcellError(
    'source.refused',
    `Cannot read the repository ${url}: it is over the limit of ${limit} ${what}.`,
  );
}

/** A pack begins with PACK, its version, and the number of its objects. */
function objectsOf(path: string): number {
  const header = Buffer.alloc(12);
  const file = openSync(path, 'r');
  try {
    readSync(file, header);
  } finally {
    closeSync(file);
  }
  return header.readUInt32BE(8);
}

function moveInto(aside: string, place: string): void {
  try {
    renameSync(aside, place);
  } catch (error) {
    // Another process was faster, with the same commit.
    if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/**
 * Whether a repository exists and every object matches its id. A damaged repository is removed: a crash of the machine may leave one.
 *
 * @throws SkillcellError `store.unavailable` where the check itself fails
 */
async function isWhole(place: string, signal: AbortSignal | undefined): Promise<boolean> {
  if (!touch(place)) return false;
  const packs = join(place, 'objects', 'pack');
  try {
    const indexes = readdirSync(packs).filter((name) => name.endsWith('.idx'));
    if (indexes.length > 0) {
      await run([`--git-dir=${place}`, 'verify-pack', '--', ...indexes.map((name) => join(packs, name))], signal);
      return true;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GitFailure && error.reason !== 'failed') throw unkept('verify-pack', error);
    // Damaged or incomplete: removed below.
  }
  discard(place);
  return false;
}

/** Eviction goes by the time of last use. False where the repository is missing. */
function touch(place: string): boolean {
  try {
    const now = new Date();
    utimesSync(place, now, now);
    return true;
  } catch {
    // Not there.
    return false;
  }
}

function entriesIn(all: string): Parameters<typeof evictOldest>[0] {
  return readdirSync(all)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(all, name))
    .map((path) => ({
      path,
      bytes: bytesOf(join(path, 'objects', 'pack')),
      usedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
      tree: basename(path),
    }));
}

function bytesOf(packs: string): number {
  try {
    return readdirSync(packs).reduce((sum, name) => sum + statSync(join(packs, name)).size, 0);
  } catch {
    // Removed meanwhile by another process.
    return 0;
  }
}
