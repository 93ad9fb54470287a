import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, readSync, renameSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { removeTorn, tornPath } from '../../durable/durable-file.ts';
import { makeFolders } from '../../durable/make-folders.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { gitEnvironment } from './git-environment.ts';
import { COMMAND_MS } from './git-limits.ts';
import { findGit } from './git-program.ts';
import { fetchRemote, type GitRemote, type RemoteRef } from './git-remote.ts';
import { GitFailure, runGit } from './run-git.ts';

const FETCHED = 'refs/skillcell/fetched';
/** All that is kept of repositories, in bytes. */
const KEPT_BYTES = 1024 ** 3;
/** What was used so lately is not removed: another process may read it. */
const LATELY_MS = 3_600_000;

/**
 * The bare repository of one commit, fetched where it is not kept yet. Each is made aside and renamed, so that one that is there is whole, and
 * processes that fetch the same have no lock to wait for. Its name is a digest.
 *
 * @param cacheFolder of the cache
 * @throws SkillcellError `store.unavailable`, `source.refused`
 */
export async function repositoryOf(
  remote: GitRemote,
  ref: RemoteRef,
  cacheFolder: string,
  signal: AbortSignal | undefined,
): Promise<{ folder: string; commit: string }> {
  const all = join(cacheFolder, 'git');
  const placeOf = (commit: string): string => join(all, `${nameOf(remote.address.url)}-${commit}`);
  if (touch(placeOf(ref.commit))) return { folder: placeOf(ref.commit), commit: ref.commit };
  makeFolders(all, 0o700);
  makeRoom(all);
  const aside = tornPath(all);
  try {
    await makeEmpty(aside, ref.commit, signal);
    await fetchRemote(remote, ref, aside, FETCHED, signal);
    checkPack(aside, remote);
    const commit = await commitIn(aside, ref, signal);
    const place = placeOf(commit);
    moveInto(aside, place);
    return { folder: place, commit };
  } finally {
    removeTree(aside);
  }
}

/** Of the address alone, which has no credential, and tells nobody who reads names what it is. */
function nameOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}

async function makeEmpty(folder: string, commit: string, signal: AbortSignal | undefined): Promise<void> {
  const format = commit.length === 64 ? 'sha256' : 'sha1';
  await local(['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '--', folder], signal);
}

/** Usually what was said to be there; a branch that moved meanwhile leads to another one. */
async function commitIn(folder: string, ref: RemoteRef, signal: AbortSignal | undefined): Promise<string> {
  if (readFileSync(join(folder, FETCHED), 'utf8').trim() === ref.commit) return ref.commit;
  const printed = await local(
    [`--git-dir=${folder}`, 'rev-parse', '--verify', '--end-of-options', `${FETCHED}^{commit}`],
    signal,
  );
  return printed.toString('latin1').trim();
}

async function local(args: readonly string[], signal: AbortSignal | undefined): Promise<Buffer> {
  const program = await findGit();
  try {
    return await runGit({
      program,
      args,
      env: gitEnvironment({}),
      timeoutMs: COMMAND_MS,
      outputBytes: 1_000,
      fileBytes: 1024 * 1024,
      signal,
    });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new SkillcellError(
      'store.unavailable',
      `Cannot keep the repository: git ${args.find((each) => !each.startsWith('-'))} failed, got ${error.words.trim().slice(0, 200)}.`,
    );
  }
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
    `Cannot read the repository ${url}: it is larger than may be fetched, got over ${limit} ${what}.`,
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

/** What was used last is removed last. False where there is none. */
function touch(place: string): boolean {
  try {
    const now = new Date();
    utimesSync(place, now, now);
    return true;
  } catch {
    // Not there, or another user's, which is none for us.
    return false;
  }
}

/** Removes what dead processes left half-made, and what was not used for longest where all of it is too much. */
function makeRoom(all: string): void {
  let left = KEPT_BYTES;
  removeTorn(all);
  const kept = readdirSync(all)
    // What somebody is fetching begins with a dot.
    .filter((name) => !name.startsWith('.'))
    .map((name) => {
      const place = join(all, name);
      return { place, usedMs: statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    });
  for (const { place, usedMs } of kept.toSorted((a, b) => b.usedMs - a.usedMs)) {
    left -= bytesOf(join(place, 'objects', 'pack'));
    if (left < 0 && Date.now() - usedMs > LATELY_MS) removeTree(place);
  }
}

function bytesOf(packs: string): number {
  try {
    return readdirSync(packs).reduce((sum, name) => sum + statSync(join(packs, name)).size, 0);
  } catch {
    // Removed meanwhile by another process.
    return 0;
  }
}
