import { Buffer } from 'node:buffer';

/** One unchecked entry of a tar archive; its size may be false. */
export interface RawEntry {
  name: string;
  /** `0` file, `1` hard link, `2` link, `3` and `4` devices, `5` folder, `6` pipe, `x` pax, `g` global pax, `L` long name. */
  type?: string;
  content?: Uint8Array | string;
  /** The size that the header claims. */
  size?: number | string;
  mode?: number;
  link?: string;
}

const BLOCK = 512;

/** The bytes of one entry: header, content, padding. */
export function tarEntry({ name, type = '0', content = '', size, mode = 0o644, link = '' }: RawEntry): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100);
  header.write(mode.toString(8).padStart(7, '0'), 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(typeof size === 'string' ? size : (size ?? body.length).toString(8).padStart(11, '0'), 124, 12);
  header.write('00000000000\0', 136);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write('ustar\x0000', 257);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

/** A pax header for the entry that follows. */
export function paxEntry(records: Record<string, string>): Buffer {
  const content = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest);
    while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
    return `${length}${rest}`;
  });
  return tarEntry({ name: 'PaxHeader', type: 'x', content: content.join('') });
}

/** The end mark of an archive. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);
