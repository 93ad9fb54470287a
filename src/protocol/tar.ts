import type { StreamReader, StreamWriter } from './channel.ts';
import { relativePathFault } from './relative-path.ts';

/** A regular file in a tar stream. */
export interface TarFile {
  path: string;
  bytes: Uint8Array;
  executable: boolean;
}

/** What a tar stream may hold. */
export interface TarCaps {
  files: number;
  fileBytes: number;
  totalBytes: number;
}

/** A tar stream that breaks its caps or our form: only regular files, each name once. */
export class TarRefused extends Error {
  override readonly name = 'TarRefused';
}

const GATHERED_BYTES = 64 * 1024;

/** Writes regular files as a tar stream. A file is asked for when its turn comes, so that not all are held at once. */
export async function writeTar(files: Iterable<TarFile> | AsyncIterable<TarFile>, writer: StreamWriter): Promise<void> {
  const { pack } = await import('tar-stream');
  const archive = pack();
  const pump = (async () => {
    for await (const chunk of gathered(archive)) await writer.write(chunk);
    writer.end();
  })();
  const fill = (async () => {
    for await (const file of files) {
      await new Promise<void>((resolve, reject) => {
        const header = { name: file.path, size: file.bytes.length, mode: file.executable ? 0o755 : 0o644 };
        const entry = archive.entry(header, Buffer.from(file.bytes), (error) => (error ? reject(error) : resolve()));
        // A file larger than the buffer resolves only when the pump has taken it.
        entry.on('error', reject);
      });
    }
    archive.finalize();
  })();
  fill.catch((error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))));
  await Promise.all([pump, fill]);
}

/** Puts small pieces together: every frame costs both sides a system call, and an answer that grants credit. */
async function* gathered(pieces: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces as AsyncIterable<Uint8Array>) {
    held.push(piece);
    size += piece.length;
    if (size < GATHERED_BYTES) continue;
    yield Buffer.concat(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
}

/**
 * Creates the reader of a tar stream. `done` resolves when the archive is complete, and rejects when it is cut,
 * broken, or breaks the caps. Modes are reduced to the executable bit.
 */
export function createTarReader(
  caps: TarCaps,
  onFile: (file: TarFile) => void | Promise<void>,
): { reader: StreamReader; done: Promise<void> } {
  const chunks: Buffer[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  let release: (() => void) | undefined;
  let stopped = false;

  async function* bytes(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        yield chunk;
        continue;
      }
      release?.();
      release = undefined;
      if (ended) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  const done = readArchive(bytes(), caps, onFile).finally(() => {
    stopped = true;
    ended = true;
    wake?.();
    release?.();
  });
  // The caller looks at `done` later; a refusal must not count as unhandled until then.
  done.catch(() => undefined);

  const reader: StreamReader = {
    data(chunk) {
      if (stopped) return undefined;
      chunks.push(chunk);
      wake?.();
      return new Promise<void>((resolve) => {
        const earlier = release;
        release = () => {
          earlier?.();
          resolve();
        };
      });
    },
    end() {
      ended = true;
      wake?.();
    },
  };
  return { reader, done };
}

async function readArchive(
  source: AsyncGenerator<Buffer>,
  caps: TarCaps,
  onFile: (file: TarFile) => void | Promise<void>,
): Promise<void> {
  const { extract } = await import('tar-stream');
  const archive = extract();
  const feed = (async () => {
    for await (const chunk of source) {
      if (archive.destroyed) return;
      if (!archive.write(chunk)) {
        await new Promise<void>((resolve) => {
          const go = (): void => {
            archive.off('drain', go).off('close', go);
            resolve();
          };
          archive.on('drain', go).on('close', go);
        });
      }
    }
    archive.end(undefined);
  })();
  feed.catch((error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))));
  const seen = new Set<string>();
  let total = 0;
  try {
    for await (const entry of archive) {
      const { name, size, type, mode } = entry.header;
      const fault = relativePathFault(name);
      if (type !== 'file') throw new TarRefused(`Cannot take an archive: an entry is no regular file, got ${type}.`);
      if (fault !== undefined) throw new TarRefused(`Cannot take an archive: ${fault}.`);
      if (seen.has(name)) throw new TarRefused('Cannot take an archive: a name is there twice.');
      seen.add(name);
      if (seen.size > caps.files) throw new TarRefused(`Cannot take an archive: over ${caps.files} files.`);
      if (!(size >= 0 && size <= caps.fileBytes)) {
        throw new TarRefused(`Cannot take an archive: a file is over ${caps.fileBytes} bytes.`);
      }
      total += size;
      if (total > caps.totalBytes) throw new TarRefused(`Cannot take an archive: over ${caps.totalBytes} bytes.`);
      const parts: Buffer[] = [];
      for await (const part of entry) parts.push(part as Buffer);
      await onFile({ path: name, bytes: Buffer.concat(parts), executable: (mode & 0o111) !== 0 });
    }
  } finally {
    archive.destroy();
  }
}
