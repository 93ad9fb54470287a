import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { READ_LIMIT } from '../skills/load/files/read-skill-file.ts';
import { keyFault } from '../library/stores/s3/key-fault.ts';
import { listPrefix } from '../library/stores/s3/list-prefix.ts';
import type { S3Access } from '../library/stores/s3/s3-access.ts';
import type { MountedFiles } from './mounted-files.ts';

/** Attempts to read a file that is written meanwhile. */
const READS = 4;

/** The objects below a prefix, as files. */
export function prefixFiles(access: S3Access, prefix: string, writable: boolean): MountedFiles {
  /** Undefined if the path with its prefix is too long for a key: then there is no such file. */
  const keyOf = (path: string): string | undefined => {
    const key = `${prefix}${path}`;
    return keyFault(key) === undefined ? key : undefined;
  };
  const files: MountedFiles = {
    async list(folder, signal) {
      const below = folder === '' ? '' : `${folder}/`;
      const { objects, diagnostics } = await listPrefix(access, `${prefix}${below}`, { signal });
      return { files: [...objects].map(([path, { bytes }]) => ({ path: `${below}${path}`, bytes })), diagnostics };
    },
    async has(path, signal) {
      const key = keyOf(path);
      return key !== undefined && (await access.look(key, signal)) !== undefined;
    },
    async read(path, signal) {
      const key = keyOf(path);
      if (key === undefined) return undefined;
      for (let reads = 0; reads < READS; reads += 1) {
        const object = await access.look(key, signal);
        if (object === undefined) return undefined;
        if (object.bytes > READ_LIMIT) {
          const message = `Cannot read ${quotedText(path)}: the limit is ${READ_LIMIT} bytes, got ${object.bytes}.`;
          throw new SkillcellError('file.unreadable', message);
        }
        const content = await access.read(object, signal);
        if (content !== undefined) return { content, etag: object.etag };
      }
      throw new SkillcellError(
        'store.changed',
        `Cannot read ${quotedText(path)}: a writer changed it during each of ${READS} attempts.`,
      );
    },
  };
  if (!writable) return files;
  return {
    ...files,
    async write(path, content, expected, signal) {
      const key = keyOf(path);
      if (key !== undefined) return access.write(key, content, expected, signal);
      throw new SkillcellError(
        'store.key-invalid',
        `Cannot write a file: its key is too long, got ${quotedText(path)}.`,
      );
    },
  };
}
