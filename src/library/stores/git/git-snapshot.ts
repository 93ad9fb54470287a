import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { findContents, type FindOptions } from '../contents/find-contents.ts';
import type { SourceContents } from '../contents/source-contents.ts';
import type { SourceFiles } from '../contents/source-files.ts';
import { gitEnvironment } from './git-environment.ts';
import { COMMAND_MS, OUTPUT_BYTES } from './git-limits.ts';
import { findGit } from './git-program.ts';
import type { GitRemote, RemoteRef } from './git-remote.ts';
import { repositoryOf } from './git-repositories.ts';
import { type ListedTree, readTreeList } from './list-tree.ts';
import { type ObjectReader, openObjectReader } from './object-reader.ts';
import { GitFailure, runGit } from './run-git.ts';

/** A folder of a repository at one commit, which never changes. */
export interface GitSnapshot {
  commit: string;
  contents: SourceContents;
  /** Id of a folder by its path, `.` for the top folder. */
  treeOf(folder: string): string;
  /** Reads files. @throws SkillcellError `store.unavailable`; the signal's reason */
  reading<Result>(read: (files: SourceFiles) => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Ends new reads; reads in progress finish. */
  retire(): void;
  close(): void;
}

/** Options of {@link openSnapshot}. */
export interface SnapshotOptions {
  remote: GitRemote;
  at: RemoteRef;
  folder: string;
  cache: TreeCache;
  find: FindOptions;
  signal: AbortSignal | undefined;
}

/** Fetches a commit where it is not kept yet, and lists its contents. @throws SkillcellError `store.unavailable`, `source.refused` */
export async function openSnapshot({ remote, at, folder, cache, find, signal }: SnapshotOptions): Promise<GitSnapshot> {
  const { folder: repository, commit, release } = await repositoryOf(remote, at, cache.folder, signal);
  const program = await findGit();
  let readers = 0;
  let isRetired = false;
  const reader = openObjectReader(program, repository);
  const { url } = remote.address;
  try {
    const top = await sourceAnswer(topFolder(reader, commit, folder, url), url, signal);
    const listed = await listTree(program, repository, top, remote, signal);
    const files: SourceFiles = { entries: listed.entries, read: readerOf(reader, listed) };
    return {
      commit,
      contents: await sourceAnswer(findContents(files, find), url, signal),
      treeOf: (path) => (path === '.' ? top : (listed.folders.get(path) ?? '')),
      async reading(read, until) {
        readers += 1;
        try {
          return await sourceAnswer(read(files), url, until);
        } finally {
          readers -= 1;
          if (isRetired && readers === 0) release();
        }
      },
      retire() {
        isRetired = true;
        if (readers === 0) release();
      },
      close() {
        reader.close();
        release();
      },
    };
  } catch (error) {
    reader.close();
    release();
    throw error;
  }
}

/** Awaits a read of a repository; a failure is an outage of the source. */
async function sourceAnswer<Result>(
  answer: Promise<Result>,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await withinDeadline(answer, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (SkillcellError.isInstance(error)) throw error;
    const reason = (error as Error).message;
    throw new SkillcellError('store.unavailable', `Cannot read the repository ${url}: ${reason}.`, { cause: error });
  }
}

async function topFolder(reader: ObjectReader, commit: string, folder: string, url: string): Promise<string> {
  const refused = (reason: string): SkillcellError =>
    new SkillcellError('source.refused', `Cannot read the repository ${url}: ${reason}.`);
  const header = await reader.read(commit, 1024 * 1024).catch(() => undefined);
  const tree = /^tree ([0-9a-f]{40,64})\n/.exec(header?.content.toString('latin1') ?? '')?.[1];
  if (header?.type !== 'commit' || tree === undefined) throw refused(`there is no such commit, got ${commit}`);
  let id = tree;
  for (const name of folder === '.' ? [] : folder.split('/')) {
    const { content } = await reader.read(id, OUTPUT_BYTES);
    const below = entryIn(content, FOLDER, name, id.length / 2);
    if (below === undefined) {
      const isSubmodule = entryIn(content, SUBMODULE, name, id.length / 2) !== undefined;
      throw refused(isSubmodule ? `submodules are not fetched, got ${folder}` : `it has no such folder, got ${folder}`);
    }
    id = below;
  }
  return id;
}

const FOLDER = '40000';
const SUBMODULE = '160000';

/** The id of a name in a tree. Each row is a mode, a name, a zero and the bytes of the id. */
function entryIn(tree: Buffer, mode: string, name: string, idBytes: number): string | undefined {
  const row = Buffer.from(`${mode} ${name}\0`);
  for (let offset = 0; offset < tree.length;) {
    const end = tree.indexOf(0, offset) + 1;
    if (end === 0) return undefined;
    if (tree.subarray(offset, end).equals(row)) return tree.subarray(end, end + idBytes).toString('hex');
    offset = end + idBytes;
  }
  return undefined;
}

async function listTree(
  program: string,
  repository: string,
  tree: string,
  { address: { url }, limits }: GitRemote,
  signal: AbortSignal | undefined,
): Promise<ListedTree> {
  const refused = (reason: string): SkillcellError =>
    new SkillcellError('source.refused', `Cannot read the repository ${url}: ${reason}.`);
  let printed: Buffer;
  try {
    printed = await runGit({
      program,
      args: [`--git-dir=${repository}`, 'ls-tree', '-r', '-t', '-l', '-z', '--full-tree', tree],
      env: gitEnvironment({}),
      timeoutMs: COMMAND_MS,
      outputBytes: OUTPUT_BYTES,
      fileBytes: 0,
      signal,
    });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw refused(
      error.reason === 'output' ? `it has more than ${OUTPUT_BYTES} bytes of names` : 'it cannot be listed',
    );
  }
  // One folder object may appear at many places: few objects can have many names.
  if (zerosIn(printed) > limits.objects) throw refused(`it has more than ${limits.objects} files and folders`);
  return readTreeList(printed);
}

function zerosIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) count += 1;
  return count;
}

function readerOf(reader: ObjectReader, { files }: ListedTree): SourceFiles['read'] {
  return async (path, limit) => {
    const id = files.get(path);
    if (id === undefined) throw new Error(`there is no such file: ${path}`);
    const { type, content } = await reader.read(id, limit);
    if (type !== 'blob') throw new Error(`it is no file: ${path}`);
    return content;
  };
}
