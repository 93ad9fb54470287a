import type { ContentBlock } from '@modelcontextprotocol/server';
import type { CallRow, OutputText } from '../../../contracts/jobs/result.ts';
import type { ResourceStore } from '../resources/resource-store.ts';

/** Characters of a text, or of a value's JSON, in a result; a longer one becomes a resource that the result links to. */
export const INLINE_CHARACTERS: number = 16 * 1024;
/** Calls that a result shows. */
const SHOWN_CALLS = 100;
/** Bytes of one image beside a result, and of all its images. */
const IMAGE_BYTES: number = 512 * 1024;
const IMAGES_BYTES: number = 1024 * 1024;
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Collects the content beside one structured result. */
export interface LinkedContent {
  readonly blocks: ContentBlock[];
  /** The text, or its beginning and a link to all of it. */
  output(name: string, output: OutputText): OutputText;
  /** The first rows, and a link to all rows if there are more. */
  calls(rows: readonly CallRow[]): readonly CallRow[];
  /** A link to a text that is too long; undefined for a shorter text. */
  text(name: string, text: string, mimeType: string): string | undefined;
  /** A link to bytes that are read from another place. */
  link(name: string, uri: string, mimeType: string, bytes: number): void;
  /** Keeps content as a resource, and links to it. */
  keep(name: string, content: string | Uint8Array, mimeType: string): string;
  /** Shows bytes that are an image, if there is room and the bytes are still there. */
  image(mimeType: string, size: number, read: () => Promise<Uint8Array | undefined>): Promise<void>;
}

/**
 * Starts without content.
 *
 * @param base prefix of the addresses of its resources
 */
export function createLinkedContent(base: string, store: ResourceStore): LinkedContent {
  const blocks: ContentBlock[] = [];
  let imageBytes = 0;
  const keep = (name: string, content: string | Uint8Array, mimeType: string): string => {
    const uri = `${base}/${name}`;
    store.keep(uri, { mimeType, content });
    link(name, uri, mimeType, Buffer.byteLength(content));
    return uri;
  };
  const link: LinkedContent['link'] = (name, uri, mimeType, size) => {
    blocks.push({ type: 'resource_link', name, uri, mimeType, size });
  };
  return {
    blocks,
    output(name, { text, bytes, truncated }) {
      if (text.length <= INLINE_CHARACTERS) return { text, bytes, truncated };
      keep(name, text, 'text/plain');
      return { text: beginningOf(text), bytes, truncated: true };
    },
    calls(rows) {
      if (rows.length > SHOWN_CALLS) keep('calls', JSON.stringify(rows), 'application/json');
      return rows.slice(0, SHOWN_CALLS);
    },
    text: (name, text, mimeType) => (text.length <= INLINE_CHARACTERS ? undefined : keep(name, text, mimeType)),
    link,
    keep,
    async image(mimeType, size, read) {
      if (!IMAGES.has(mimeType) || size > IMAGE_BYTES || imageBytes + size > IMAGES_BYTES) return;
      imageBytes += size;
      const bytes = await read();
      if (bytes !== undefined) blocks.push({ type: 'image', mimeType, data: Buffer.from(bytes).toString('base64') });
    },
  };
}

/** The first characters of a text, without half a surrogate pair. */
export function beginningOf(text: string, most: number = INLINE_CHARACTERS): string {
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return text.slice(0, end);
}
