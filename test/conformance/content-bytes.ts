/** Content of a file in the vectors. Links are not content; the code that writes trees handles them. */
export type Content =
  | string
  | { text: string; executable?: boolean }
  | { base64: string }
  | { parts: (string | { repeat: string; times: number })[] };

/** Returns the bytes of a file's content. */
export function contentBytes(content: Content): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  if ('text' in content) return Buffer.from(content.text);
  if ('base64' in content) return Buffer.from(content.base64, 'base64');
  return Buffer.from(
    content.parts.map((part) => (typeof part === 'string' ? part : part.repeat.repeat(part.times))).join(''),
  );
}
