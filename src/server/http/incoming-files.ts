import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply } from 'fastify';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { diskFault } from '../../queue/seams/disk-fault.ts';
import type { StoredContent } from '../../queue/seams/job-files.ts';

/** Most bytes of the files of all requests. */
const MOST_BYTES: number = 1024 * 1024 * 1024;

/** Files in forms. They are on the disk while they arrive, as slow clients would otherwise hold memory. */
export interface IncomingFiles {
  /** Begins a form. Its files are removed after the answer. */
  begin(reply: FastifyReply): IncomingForm;
}

/** A file of a form, on the disk until the answer. */
export interface IncomingFile extends StoredContent {
  path: string;
}

/** Files of one form. */
export interface IncomingForm {
  /**
   * Writes a file to the disk.
   *
   * @throws SkillcellError `service.unavailable`, `disk.full`; the errors of the content
   */
  receive(content: AsyncIterable<Uint8Array>): Promise<IncomingFile>;
}

/** @param folder an empty folder */
export function incomingFiles(folder: string): IncomingFiles {
  let heldBytes = 0;
  return {
    begin(reply) {
      const paths: string[] = [];
      let formBytes = 0;
      const take = (bytes: number): void => {
        formBytes += bytes;
        heldBytes += bytes;
        if (heldBytes <= MOST_BYTES) return;
        throw new SkillcellError('service.unavailable', 'Cannot take the form: other forms take all the room.');
      };
      const remove = async (): Promise<void> => {
        heldBytes -= formBytes;
        for (const path of paths) await rm(path, { force: true });
      };
      reply.raw.once('close', () => {
        remove().catch((err: unknown) => reply.log.warn({ reason: String(err) }, 'files of a form remain'));
      });
      return {
        async receive(content) {
          const path = join(folder, randomUUID());
          paths.push(path);
          return await writeContent(path, content, take);
        },
      };
    },
  };
}

async function writeContent(
  path: string,
  content: AsyncIterable<Uint8Array>,
  take: (bytes: number) => void,
): Promise<IncomingFile> {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of content) {
      take(piece.length);
      size += piece.length;
      hash.update(piece);
      await file.writeFile(piece);
    }
  } catch (error) {
    throw diskFault(error);
  } finally {
    await file.close();
  }
  return { path, size, sha256: hash.digest('hex'), read: () => createReadStream(path) };
}
