import { addPiece } from '../channel/add-piece.ts';
import { drained } from './drained.ts';
import type { Extract, Pack } from 'tar-stream';
import type { StreamReader, ByteWriter } from '../channel/channel.ts';
import { relativePathFault } from '../../contracts/text/relative-path.ts';

/** A regular file in a tar stream. */
export interface TarFile {
  path: string;
  bytes: Uint8Array;
  executable: boolean;
}

/** A file for a tar stream whose bytes are read while they are sent. */
export interface TarSource extends Pick<TarFile, 'path' | 'executable'> {
  /** In bytes. */
  size: number;
  /** As many bytes as `size` says. */
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Limits of a tar stream. */
export interface TarCaps {
  files: number;
  fileBytes: number;
  totalBytes: number;
}

/** A tar stream exceeds its limits, or holds anything but regular files with unique names. */
export class TarRefused extends Error {
  override readonly name = 'TarRefused';
}

const GATHERED_BYTES = 64 * 1024;

/** Writes regular files as a tar stream. Each file is requested only when its turn comes, so that not all are in memory. */
export async function writeTar(
  files: Iterable<TarFile | TarSource> | AsyncIterable<TarFile | TarSource>,
  writer: ByteWriter,
): Promise<void> {
  const { pack } = await import('tar-stream');
  const archive = pack();
  const pump = (async () => {
    for await (const chunk of gathered(archive)) await writer.write(chunk);
    writer.end();
  })();
  const fill = (async () => {
    for await (const file of files) {
      await new Promise<void>((resolve, reject) => {
        const { size, pieces } = 'bytes' in file ? { size: file.bytes.length, pieces: [file.bytes] } : file;
        const header = { name: file.path, size, mode: file.executable ? 0o755 : 0o644 };
        const entry = archive.entry(header, (error) => (error ? reject(error) : resolve()));
        entry.on('error', reject);
        writePieces(entry, pieces).catch((error: Error) => entry.destroy(error));
      });
    }
    archive.finalize();
  })();
  fill.catch((error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))));
  await Promise.all([pump, fill]);
}

async function writePieces(entry: ReturnType<Pack['entry']>, pieces: TarSource['pieces']): Promise<void> {
  for await (const { buffer, byteOffset, length } of pieces) {
    // The archive takes buffers only, and no copy is made here.
    const isFull = !entry.write(Buffer.from(buffer, byteOffset, length));
    if (entry.destroyed) return;
    if (isFull) await drained(entry);
  }
  entry.end(undefined);
}

/** Joins small pieces: every frame costs both sides a system call, and a credit frame in return. */
async function* gathered(pieces: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    held.push(piece);
    size += piece.length;
    if (size < GATHERED_BYTES) continue;
    yield held.length === 1 ? piece : Buffer.concat(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
}

/**
 * Creates the reader of a tar stream. `done` resolves when the archive is complete, and rejects when it is cut off, broken or
 * over the limits. Modes are reduced to the executable bit.
 */
export function createTarReader(
  caps: TarCaps,
  onFile: (file: TarFile) => void | Promise<void>,
): { reader: StreamReader; done: Promise<void> } {
  let ended = false;
  let draining: Promise<void> | undefined;
  const loaded = import('tar-stream').then(({ extract }) => extract());
  const done = loaded.then((archive) => readArchive(archive, caps, onFile));
  // The caller looks at `done` later; a refusal must not count as unhandled until then.
  done.catch(() => undefined);

  const reader: StreamReader = {
    async data(chunk) {
      const archive = await loaded;
      // Bytes after the end or the refusal of an archive are dropped.
      if (archive.destroyed || archive.write(chunk)) return;
      // All waiting chunks share one promise.
      await (draining ??= drained(archive).then(() => void (draining = undefined)));
    },
    end() {
      if (ended) return;
      ended = true;
      void loaded.then((archive) => archive.end(undefined));
    },
  };
  return { reader, done };
}

function readArchive(archive: Extract, caps: TarCaps, onFile: (file: TarFile) => void | Promise<void>): Promise<void> {
  const check = createEntryCheck(caps);
  return new Promise((resolve, reject) => {
    archive.on('entry', ({ name, size, type, mode }, content, next) => {
      // The archive emits the same error.
      content.on('error', () => undefined);
      const refusal = check(name, size, type);
      if (refusal !== undefined) {
        archive.destroy(new TarRefused(`Cannot take an archive: ${refusal}.`));
        return;
      }
      const parts: Buffer[] = [];
      content.on('data', (part) => addPiece(parts, part as Buffer));
      content.on('end', () => {
        const executable = ((mode ?? 0) & 0o111) !== 0;
        const [only] = parts;
        const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
        void takeFile(onFile, { path: name, bytes, executable }, next);
      });
    });
    archive.on('error', reject);
    archive.on('finish', () => resolve());
    archive.on('close', () => reject(new Error('Cannot take an archive: it was closed.')));
  });
}

async function takeFile(
  onFile: (file: TarFile) => void | Promise<void>,
  file: TarFile,
  next: (error?: Error) => void,
): Promise<void> {
  try {
    await onFile(file);
    next();
  } catch (error) {
    next(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Creates a check that returns the fault of each entry, or undefined. */
function createEntryCheck(
  caps: TarCaps,
): (name: string, size: number, type: string | null | undefined) => string | undefined {
  const seen = new Set<string>();
  let total = 0;
  return (name, size, type) => {
    if (type !== 'file') return `an entry is not a regular file, got ${type ?? 'no type'}`;
    const fault = relativePathFault(name);
    if (fault !== undefined) return fault;
    if (seen.has(name)) return 'a name occurs twice';
    seen.add(name);
    if (seen.size > caps.files) return `over ${caps.files} files`;
    if (!(size >= 0 && size <= caps.fileBytes)) return `a file is over ${caps.fileBytes} bytes`;
    total += size;
    return total > caps.totalBytes ? `over ${caps.totalBytes} bytes` : undefined;
  };
}
