import type { CallToolResult } from '@modelcontextprotocol/client';
import { plainMessage } from '../../broker/outside-text.ts';

type Content = CallToolResult['content'][number];

/**
 * The value of a call: what is structured, else what the content holds: nothing is `null`, one part is that part, more are a list. Texts are
 * texts; what is bytes is `Uint8Array`, with its media type beside it.
 */
export function callValue({ structuredContent, content }: CallToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const parts = content.map(partOf);
  return parts.length > 1 ? parts : (parts[0] ?? null);
}

function partOf(part: Content): unknown {
  if (part.type === 'text') return part.text;
  if (part.type === 'image' || part.type === 'audio') return { mediaType: part.mimeType, bytes: bytesOf(part.data) };
  if (part.type === 'resource_link') {
    const { uri, name, description, mimeType } = part;
    return { uri, name, description, mediaType: mimeType };
  }
  const { uri, mimeType, ...held } = part.resource;
  return { uri, mediaType: mimeType, ...('text' in held ? { text: held.text } : { bytes: bytesOf(held.blob) }) };
}

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}

/** What a call that failed says of it, in one line. */
export function callFailure({ content }: CallToolResult, secrets: readonly string[]): string {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text.trim()] : [])).join(' ');
  return plainMessage(text === '' ? undefined : text.slice(0, 4_000).replaceAll(/\s+/g, ' '), secrets);
}
