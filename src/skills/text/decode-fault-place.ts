import { placeAt, type TextPlace } from './text-place.ts';

/**
 * Finds the first place where bytes are not text: a NUL, or a byte that is invalid UTF-8.
 *
 * @param bytes the whole file
 * @returns the place; undefined if all bytes are text
 */
export function decodeFaultPlace(bytes: Uint8Array): TextPlace | undefined {
  const nul = bytes.indexOf(0);
  const head = nul < 0 ? bytes : bytes.subarray(0, nul);
  // Invalid bytes decode to U+FFFD, whose bytes differ from the original ones.
  const rewritten = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(head));
  let at = 0;
  while (at < head.length && head[at] === rewritten[at]) at += 1;
  // If the file ends within the bytes of a U+FFFD, the rewritten text is longer than the file.
  if (at === bytes.length && rewritten.length === at) return undefined;
  // `stream` drops an incomplete last character. The decoder drops a byte order mark, as for all other places.
  const text = new TextDecoder().decode(head.subarray(0, at), { stream: true }).replaceAll('\r\n', '\n');
  return placeAt(text, text.length);
}
