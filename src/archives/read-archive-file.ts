import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { ARCHIVE_LIMITS } from './checks/archive-limits.ts';
import { ArchiveRefusal } from './checks/archive-refused.ts';

/** Content and identity of a file. */
export interface ArchiveFile {
  bytes: Buffer;
  /** Device, inode, size and times. Every change of the file changes it. */
  identity: string;
}

/**
 * Reads the file of an archive. Its kind and size are checked before any byte is read. Never waits on a fifo.
 *
 * @throws ArchiveRefusal if the file is too large
 * @throws Error of the system, or if it is not a regular file or changes in the meantime
 */
export async function readArchiveFile(path: string): Promise<ArchiveFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new Error('it is no regular file');
    const { packedBytes } = ARCHIVE_LIMITS;
    if (stats.size > packedBytes)
      throw new ArchiveRefusal('archive.size', `it has more than ${packedBytes} bytes, ${stats.size}`);
    const bytes = Buffer.alloc(Number(stats.size));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const identity = identityOf(stats);
    if (identityOf(await file.stat({ bigint: true })) !== identity) throw new Error('it was written while it was read');
    return { bytes: bytes.subarray(0, length), identity };
  } finally {
    await file.close();
  }
}

/** The identity of a file, without reading it. @throws Error of the system */
export async function archiveIdentity(path: string): Promise<string> {
  return identityOf(await stat(path, { bigint: true }));
}

function identityOf(stats: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
