import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { diagnostic, type Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { InputFile } from '../../contracts/jobs/job.ts';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';
import type { TarFile, TarSource } from '../../protocol/files/tar.ts';
import { listInputFolder } from './list-input-folder.ts';
import { openBeneath } from '../../durable/open-beneath.ts';

const MIB = 1024 * 1024;
/** Bytes that are read at once. */
const PIECE_BYTES: number = 256 * 1024;

/** One file for the workspace: its bytes, or the source from which they are read when it is sent. */
export type PreparedFile =
  | { destination: string; bytes: Uint8Array; executable: boolean }
  | { destination: string; source: string }
  | { destination: string; folder: string; path: string };

/** The files of a job; a folder is replaced by the files in it. */
export interface PreparedFiles {
  files: PreparedFile[];
  /** One for each entry that was left out of a folder. */
  diagnostics: Diagnostic[];
}

/**
 * Finds the input files of a job. Unreadable files and files over the workspace limits are refused before the job starts.
 *
 * @throws SkillcellError `file.unreadable`
 */
export async function prepareInputFiles(
  inputs: readonly InputFile[],
  { workspaceMib, workspaceInodes }: Pick<JobLimits, 'workspaceMib' | 'workspaceInodes'>,
): Promise<PreparedFiles> {
  const maxBytes = workspaceMib * MIB;
  const files: PreparedFile[] = [];
  const diagnostics: Diagnostic[] = [];
  let total = 0;
  const take = (file: PreparedFile, bytes: number): void => {
    total += bytes;
    if (total > maxBytes) throw tooLarge(file.destination, maxBytes);
    files.push(file);
  };
  for (const input of inputs) {
    const { destination } = input;
    if ('bytes' in input) {
      const { bytes, executable = false } = input;
      take({ destination, bytes, executable }, bytes.length);
      continue;
    }
    const { source } = input;
    const size = await sizeOfSource(source);
    if (size !== undefined) {
      take({ destination, source }, size);
      continue;
    }
    const found = await listInputFolder(source, destination, workspaceInodes);
    if (found.overLimit) throw tooMany(source, workspaceInodes);
    for (const { path, bytes } of found.files) {
      take({ destination: `${destination}/${path}`, folder: source, path }, bytes);
    }
    diagnostics.push(...found.omitted.map(({ path, reason }) => diagnostic('file.omitted', reason, { path })));
  }
  return { files, diagnostics };
}

/**
 * Opens the job's input files, one at a time as they are sent, and reads them in pieces. A source must still be a regular file, as seen through the
 * opened descriptor, and all files together must fit into the workspace.
 *
 * @throws SkillcellError `file.unreadable`
 */
export async function* openInputFiles(files: readonly PreparedFile[], maxBytes: number): AsyncGenerator<TarSource> {
  let room = maxBytes;
  for (const file of files) {
    if ('bytes' in file) {
      const { destination: path, bytes, executable } = file;
      if (bytes.length > room) throw tooLarge(path, maxBytes);
      room -= bytes.length;
      yield { path, size: bytes.length, executable, pieces: [bytes] };
      continue;
    }
    const shown = 'source' in file ? file.source : `${file.folder}/${file.path}`;
    await using handle = await opened(shown, () =>
      'source' in file ? openSource(file.source) : openBeneath(file.folder, file.path),
    );
    const { size, executable } = await regularFile(handle, shown);
    if (size > room) throw tooLarge(file.destination, maxBytes);
    room -= size;
    yield { path: file.destination, size, executable, pieces: piecesOf(handle, shown, size) };
  }
}

/** Reads the job's input files, one at a time. @throws SkillcellError `file.unreadable` */
export async function* readInputFiles(files: readonly PreparedFile[], maxBytes: number): AsyncGenerator<TarFile> {
  for await (const { path, size, executable, pieces } of openInputFiles(files, maxBytes)) {
    yield { path, executable, bytes: await joined(pieces, size) };
  }
}

/** Reads a regular file of the host of at most `maxBytes`. @throws SkillcellError `file.unreadable` */
export async function readHostFile(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await opened(path, () => openSource(path));
  const { size } = await regularFile(file, path);
  if (size > maxBytes) throw tooLarge(path, maxBytes);
  return await joined(piecesOf(file, path, size), size);
}

async function joined(pieces: TarSource['pieces'], size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let offset = 0;
  for await (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}

/** The bytes that a file had when it was opened. */
async function* piecesOf(file: FileHandle, path: string, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < size;) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - offset));
    const { bytesRead } = await file.read(piece, 0, piece.length, offset);
    if (bytesRead === 0) throw unreadable(`it became shorter while it was read, got ${path}`);
    offset += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

/** Size in bytes of a readable regular file; undefined for a folder. */
async function sizeOfSource(path: string): Promise<number | undefined> {
  await using file = await opened(path, () => openSource(path));
  const status = await file.stat();
  if (status.isDirectory()) return undefined;
  if (!status.isFile()) throw unreadable(`it is no regular file and no folder, got ${path}`);
  return status.size;
}

async function regularFile(file: FileHandle, path: string): Promise<{ size: number; executable: boolean }> {
  const status = await file.stat();
  if (!status.isFile()) throw unreadable(`it is no regular file, got ${path}`);
  return { size: status.size, executable: (status.mode & 0o111) !== 0 };
}

/** Without O_NONBLOCK, opening a pipe waits for a writer that may never come. */
function openSource(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NONBLOCK);
}

async function opened(path: string, openFile: () => Promise<FileHandle>): Promise<FileHandle> {
  try {
    return await openFile();
  } catch (cause) {
    throw unreadable(`${(cause as Error).message}, got ${path}`, cause);
  }
}

function unreadable(reason: string, cause?: unknown): SkillcellError {
  return new SkillcellError('file.unreadable', `Cannot read a file: ${printablePath(reason)}.`, { cause });
}

function tooLarge(path: string, maxBytes: number): SkillcellError {
  const message = `Cannot send the files up to ${printablePath(path)}: together they are over ${maxBytes} bytes.`;
  return new SkillcellError('file.unreadable', message);
}

function tooMany(path: string, maxEntries: number): SkillcellError {
  const message = `Cannot send the folder ${printablePath(path)}: it has over ${maxEntries} files and folders, the most that the workspace takes.`;
  return new SkillcellError('file.unreadable', message);
}
