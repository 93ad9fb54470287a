import { ARCHIVE_LIMITS } from '../checks/archive-limits.ts';
import { ArchiveRefusal } from '../checks/archive-refused.ts';
import { readTarAttributes } from './tar-attributes.ts';

const BLOCK = 512;
/** Most bytes of a long name, or of the attributes, before an entry. */
const ATTRIBUTE_BYTES = 64 * 1024;
/** Most zero bytes at the end: programs fill records of some kilobytes with them. */
const PADDING_BYTES = 1024 * 1024;

/** Checks of the walk; each can be skipped. */
export type TarCheck = 'entries' | 'size' | 'link' | 'header' | 'ambiguous' | 'checksum';

/** A walk through an archive. */
export interface TarWalk {
  /** @throws ArchiveRefusal */
  push(piece: Buffer): void;
  /** Reports the end of the archive. @throws ArchiveRefusal */
  end(): void;
}

/** Attributes and long name of the next entry. */
interface Ahead {
  attributes?: ReadonlyMap<string, string> | undefined;
  longName?: string | undefined;
}

/**
 * Walks an archive from header to header without keeping data. It refuses entries that are too large at their header, and all forms that
 * programs read differently. Every program then reads the same files.
 */
export function walkTar(without?: string): TarWalk {
  const makes = (check: TarCheck): boolean => check !== without;
  let entries = 0;
  let total = 0;
  let zeros = 0;
  let ahead: Ahead = {};
  /** Bytes until the next header. Bytes of attributes are gathered, bytes of files are skipped. */
  let skipped = 0;
  let gathered: { type: string; size: number; pieces: Buffer[] } | undefined;
  let rest: Buffer = Buffer.alloc(0);

  const atHeader = (header: Buffer): void => {
    if (header.every((byte) => byte === 0)) {
      zeros += BLOCK;
      if (zeros > PADDING_BYTES) throw new ArchiveRefusal('tar.size', `more than ${PADDING_BYTES} bytes of zeros`);
      return;
    }
    if (zeros > 0 && makes('ambiguous')) throw new ArchiveRefusal('tar.ambiguous', 'bytes follow its end');
    const type = header.toString('latin1', 156, 157);
    const size = numberIn(header, 124, 12);
    if (size === undefined || numberIn(header, 100, 8) === undefined)
      throw new ArchiveRefusal('tar.header', 'a size or mode that is not a plain number');
    skipped = Math.ceil(size / BLOCK) * BLOCK;
    if ('xgL'.includes(type)) {
      if (size > ATTRIBUTE_BYTES) throw new ArchiveRefusal('tar.header', `names or attributes of ${size} bytes`);
      gathered = { type, size, pieces: [] };
      if (skipped === 0) atAttributes(type, Buffer.alloc(0));
      return;
    }
    atEntry(header, type, size);
    ahead = {};
  };

  const atEntry = (header: Buffer, type: string, size: number): void => {
    entries += 1;
    if (entries > ARCHIVE_LIMITS.entries && makes('entries'))
      throw new ArchiveRefusal('tar.entries', `more than ${ARCHIVE_LIMITS.entries} entries`);
    if (!KINDS.includes(type) && makes('link'))
      throw new ArchiveRefusal('tar.link', `an entry that is neither file nor folder, of type ${JSON.stringify(type)}`);
    total += size;
    if (total > ARCHIVE_LIMITS.unpackedBytes && makes('size'))
      throw new ArchiveRefusal('tar.size', `over ${ARCHIVE_LIMITS.unpackedBytes} bytes unpacked, ${total} or more`);
    const fault = makes('header') ? entryFault(header, type, size, ahead) : undefined;
    if (fault !== undefined) throw new ArchiveRefusal('tar.header', fault);
  };

  const atAttributes = (type: string, bytes: Buffer): void => {
    if (type === 'L') {
      const isNew = ahead.longName === undefined && ahead.attributes?.has('path') !== true;
      if (!isNew && makes('ambiguous')) throw new ArchiveRefusal('tar.ambiguous', 'a name is given twice');
      ahead = { ...ahead, longName: bytes.toString('utf8').replace(/\0[^]*$/, '') };
      return;
    }
    const attributes = makes('header') ? readTarAttributes(bytes, type === 'g') : new Map<string, string>();
    if (attributes === undefined)
      throw new ArchiveRefusal('tar.header', 'attributes that programs read in different ways');
    if (type === 'g') return;
    const isNew = ahead.attributes === undefined && !(ahead.longName !== undefined && attributes.has('path'));
    if (!isNew && makes('ambiguous')) throw new ArchiveRefusal('tar.ambiguous', 'attributes are given twice');
    ahead = { ...ahead, attributes };
  };

  const pass = (piece: Buffer): void => {
    const part = piece.subarray(0, skipped);
    skipped -= part.length;
    if (gathered === undefined) return;
    gathered.pieces.push(Buffer.from(part));
    if (skipped > 0) return;
    const { type, size, pieces } = gathered;
    gathered = undefined;
    atAttributes(type, Buffer.concat(pieces).subarray(0, size));
  };

  return {
    push(piece) {
      let left = piece;
      while (left.length > 0) {
        if (skipped > 0) {
          const before = skipped;
          pass(left);
          left = left.subarray(before - skipped);
          continue;
        }
        const header = Buffer.concat([rest, left.subarray(0, BLOCK - rest.length)]);
        left = left.subarray(BLOCK - rest.length);
        rest = header.length < BLOCK ? header : Buffer.alloc(0);
        if (header.length === BLOCK) atHeader(header);
      }
    },
    end() {
      if (skipped > 0 || rest.length > 0) throw new ArchiveRefusal('tar.format', 'it is cut off');
      if (!makes('ambiguous')) return;
      if (zeros < 2 * BLOCK) throw new ArchiveRefusal('tar.ambiguous', 'it has no end');
      if (ahead.longName !== undefined || ahead.attributes !== undefined)
        throw new ArchiveRefusal('tar.ambiguous', 'a name without its entry');
    },
  };
}

/** Types of files, links, devices and folders. `readTar` refuses the unsupported ones later, with their names. */
const KINDS = '\u000001234567';
const FILES = '\u000007';

function entryFault(header: Buffer, type: string, size: number, { attributes, longName }: Ahead): string | undefined {
  if (!FILES.includes(type)) return size === 0 ? undefined : 'a folder or a link with data';
  const given = attributes?.get('size');
  if (given !== undefined && given !== String(size)) return `two sizes, ${size} and another one`;
  const name = header.toString('latin1', 0, 100).replace(/\0[^]*$/, '');
  const isFolder = [name, longName, attributes?.get('path')].some((each) => each?.endsWith('/') === true);
  return isFolder ? 'a file with the name of a folder' : undefined;
}

/** An octal number; it ends with the field, a space or a NUL. */
function numberIn(header: Buffer, offset: number, length: number): number | undefined {
  const text = /^ *([0-7]+)[ \0]*$/.exec(header.toString('latin1', offset, offset + length))?.[1];
  return text === undefined ? undefined : Number.parseInt(text, 8);
}
