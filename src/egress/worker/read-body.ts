/**
 * Reads a whole body.
 *
 * @param most most bytes
 * @returns undefined for a longer body, of which the rest stays unread
 */
export async function readBody(chunks: AsyncIterable<Buffer>, most: number): Promise<Buffer | undefined> {
  const read: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > most) return undefined;
    read.push(chunk);
  }
  return Buffer.concat(read);
}
