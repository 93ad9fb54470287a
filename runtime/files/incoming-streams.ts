import { closeSync, constants, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import type { SkillTrees } from '../../src/contracts/skills/skill.ts';
import type { StreamReader } from '../../src/protocol/channel/channel.ts';
import { createTarReader, type TarFile } from '../../src/protocol/files/tar.ts';
import { drained } from '../../src/protocol/files/drained.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

const NO_CAPS = { files: 1_000_000, fileBytes: Number.MAX_SAFE_INTEGER, totalBytes: Number.MAX_SAFE_INTEGER };

/** Collects a whole stream in memory. */
export function receiveBytes(maxBytes: number): { reader: StreamReader; done: Promise<Buffer> } {
  const chunks: Buffer[] = [];
  let size = 0;
  const { promise: done, resolve } = Promise.withResolvers<Buffer>();
  const reader: StreamReader = {
    data(chunk) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`Cannot take a stream: over ${maxBytes} bytes.`);
      chunks.push(chunk);
    },
    end: () => resolve(Buffer.concat(chunks)),
  };
  return { reader, done };
}

/** Receives the skill trees that come with the descriptor: a tar stream of `<full id>/<path>`, kept as bytes until checked. */
export function receiveSkills(): { reader: StreamReader; done: Promise<SkillTrees> } {
  return lazily(() => {
    const trees: SkillTrees = new Map();
    const archive = createTarReader(NO_CAPS, ({ path, bytes, executable }) => {
      const cut = path.indexOf('/');
      const id = path.slice(0, cut);
      const tree = trees.get(id) ?? new Map();
      trees.set(id, tree);
      tree.set(path.slice(cut + 1), { bytes, executable });
    });
    return { reader: archive.reader, done: archive.done.then(() => trees) };
  });
}

/** Unpacks the job's input files into the workspace as they arrive, and returns their paths. User code has not started yet. */
export function receiveFiles(
  layout: SandboxLayout,
  privileges: Privileges,
): { reader: StreamReader; done: Promise<readonly string[]> } {
  return lazily(() => {
    const paths: string[] = [];
    const archive = createTarReader(NO_CAPS, (file) => {
      privileges.asUser(() => writeFileBelow(layout.workspace, file));
      paths.push(file.path);
    });
    return { reader: archive.reader, done: archive.done.then(() => paths) };
  });
}

/**
 * Writes a new file below a folder, and creates the folders on the way.
 *
 * @param mode permissions of an executable file; another file gets them without the execute bits
 * @throws SkillcellError `file.unreadable` when there is no room for it
 */
export function writeFileBelow(folder: string, file: TarFile, mode: number = 0o755): void {
  try {
    writeNewFile(folder, file, file.executable ? mode : mode & ~0o111);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    const message = `Cannot place the files of the job: the workspace has no room for ${file.path}.`;
    throw new SkillcellError('file.unreadable', message, { cause: error });
  }
}

function writeNewFile(folder: string, file: TarFile, mode: number): void {
  const path = join(folder, file.path);
  mkdirSync(dirname(path), { recursive: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(path, flags, mode);
  try {
    for (let offset = 0; offset < file.bytes.length;) offset += writeSync(descriptor, file.bytes, offset);
  } finally {
    closeSync(descriptor);
  }
}

/** A stream for the program's stdin, filled at the speed at which the program reads it. */
export function receiveStdin(): { reader: StreamReader; stream: Readable } {
  const stream = new PassThrough();
  let draining: Promise<void> | undefined;
  return {
    stream,
    reader: {
      data(chunk) {
        if (stream.destroyed || stream.write(chunk)) return undefined;
        // All waiting chunks share one promise.
        draining ??= drained(stream).then(() => void (draining = undefined));
        return draining;
      },
      end: () => stream.end(),
    },
  };
}

/** Sets a reader up at its first use: most jobs have no files, and many no skills. */
function lazily<T>(make: () => { reader: StreamReader; done: Promise<T> }): { reader: StreamReader; done: Promise<T> } {
  let made: { reader: StreamReader; done: Promise<T> } | undefined;
  const get = (): { reader: StreamReader; done: Promise<T> } => (made ??= make());
  return {
    reader: { data: (chunk) => get().reader.data(chunk), end: () => get().reader.end() },
    get done() {
      return get().done;
    },
  };
}
