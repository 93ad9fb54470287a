import type { ContentBlock } from '@modelcontextprotocol/server';
import type { CallRow, OutputText } from '../../../contracts/jobs/result.ts';
import type { ResourceStore } from '../resources/resource-store.ts';

/** Characters of a text, or of a value's JSON, that stand in a result; what is longer is a resource that the result links to. */
export const INLINE_CHARACTERS: number = 16 * 1024;
/** Calls that stand in a result. */
const SHOWN_CALLS = 100;
/** Bytes of an image that is shown beside a result, and of all images of one. */
const IMAGE_BYTES: number = 512 * 1024;
const IMAGES_BYTES: number = 1024 * 1024;
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Collects what stands beside one structured result. */
export interface LinkedContent {
  readonly blocks: ContentBlock[];
  /** The text, or its beginning and a link to all of it. */
  output(name: string, output: OutputText): OutputText;
  /** The first rows, and where there are more a link to all of them. */
  calls(rows: readonly CallRow[]): readonly CallRow[];
  /** A link to a text that is too long; undefined where it is not. */
  text(name: string, text: string, mimeType: string): string | undefined;
  /** A link to bytes that are read from somewhere else. */
  link(name: string, uri: string, mimeType: string, bytes: number): void;
  /** A link to what is kept for it. */
  keep(name: string, content: string | Uint8Array, mimeType: string): string;
  /** Shows bytes that are an image, where there is room for it and they are there. */
  image(mimeType: string, size: number, read: () => Promise<Uint8Array | undefined>): Promise<void>;
}

/**
 * Starts with nothing.
 *
 * @param base what the addresses of its resources begin with
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

/** The first characters of a text, none of them halved. */
export function beginningOf(text: string, most: number = INLINE_CHARACTERS): string {
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return text.slice(0, end);
}
