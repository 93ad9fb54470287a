import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { removeTorn, tornPath } from '../../../durable/durable-file.ts';
import { removeTree } from '../../../durable/remove-tree.ts';
import { entriesIn, evictOldest, touch } from '../cache/cache-entries.ts';
import { privatePart } from '../cache/private-folder.ts';
import { openSharedEntries, type SharedEntries } from '../cache/shared-entries.ts';
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

/** Attempts to keep a repository whose place holds a damaged copy. */
const LOOKS = 5;
/** A folder's name: digest of an address, and a commit. */
const NAME = /^[0-9a-f]{32}-[0-9a-f]{40,64}$/;

/** The kept repositories. */
interface KeptPlaces {
  all: string;
  shared: SharedEntries;
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
  const all = privatePart(cacheFolder, 'git');
  const shared = openSharedEntries(dirname(all));
  try {
    const kept = hold({ all, shared }, remote, ref.commit);
    if (await isWhole(shared, kept, signal)) return { folder: kept, commit: ref.commit, release: shared.close };
    const repository = await fetchInto({ all, shared }, remote, ref, signal);
    evictOldest(entriesIn(all, NAME, shared.evict), { maxBytes: remote.limits.keptBytes });
    return { ...repository, release: shared.close };
  } catch (error) {
    shared.close();
    throw error;
  }
}

/** The place of a commit, held until the end of the leases. */
function hold({ all, shared }: KeptPlaces, { address }: GitRemote, commit: string): string {
  const place = join(all, `${nameOf(address.url)}-${commit}`);
  shared.hold(place);
  return place;
}

async function fetchInto(
  places: KeptPlaces,
  remote: GitRemote,
  ref: RemoteRef,
  signal: AbortSignal | undefined,
): Promise<Omit<HeldRepository, 'release'>> {
  removeTorn(places.all);
  const aside = tornPath(places.all);
  try {
    await makeEmpty(aside, ref.commit, signal);
    await fetchRemote(remote, ref, aside, FETCHED, signal);
    checkPack(aside, remote);
    const commit = await commitIn(aside, ref, signal);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const folder = hold(places, remote, commit);
      if (isMoved(aside, folder) || (await isWhole(places.shared, folder, signal))) return { folder, commit };
    }
    throw unremovable(remote, commit);
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

/** @returns false if another process was faster, with the same commit */
function isMoved(aside: string, place: string): boolean {
  try {
    renameSync(aside, place);
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

function unremovable({ address: { url } }: GitRemote, commit: string): SkillcellError {
  const message = `Cannot keep the repository ${url}: a damaged copy of it cannot be removed from the cache, got ${commit}.`;
  return new SkillcellError('store.unavailable', message, { hint: 'Remove the cache; it is filled again.' });
}

/**
 * Whether a held repository exists and every object matches its id. A damaged repository is removed: a crash of the machine may leave one.
 *
 * @throws SkillcellError `store.unavailable` where the check itself fails
 */
async function isWhole(shared: SharedEntries, place: string, signal: AbortSignal | undefined): Promise<boolean> {
  const folder = openFolder(place);
  if (folder === undefined) return false;
  try {
    touch(place);
    if (await isVerified(place, signal)) return true;
    // As long as the folder is open, no other folder gets its inode.
    const { ino } = fstatSync(folder);
    shared.discard(place, () => lstatSync(place, { throwIfNoEntry: false })?.ino !== ino);
    return false;
  } finally {
    closeSync(folder);
  }
}

function openFolder(place: string): number | undefined {
  try {
    return openSync(place, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    // Not fetched yet, or evicted.
    return undefined;
  }
}

async function isVerified(place: string, signal: AbortSignal | undefined): Promise<boolean> {
  const packs = join(place, 'objects', 'pack');
  try {
    const indexes = readdirSync(packs).filter((name) => name.endsWith('.idx'));
    if (indexes.length === 0) return false;
    await run([`--git-dir=${place}`, 'verify-pack', '--', ...indexes.map((name) => join(packs, name))], signal);
    return true;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GitFailure && error.reason !== 'failed') throw unkept('verify-pack', error);
    // Damaged or incomplete.
    return false;
  }
}
