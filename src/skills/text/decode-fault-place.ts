import { placeAt, type TextPlace } from './text-place.ts';

/**
 * Finds where bytes cease to be a text: the first NUL, or the first byte of what is no UTF-8.
 *
 * @param bytes the whole file
 * @returns undefined where all of them are text
 */
export function decodeFaultPlace(bytes: Uint8Array): TextPlace | undefined {
  const nul = bytes.indexOf(0);
  const head = nul < 0 ? bytes : bytes.subarray(0, nul);
  // What is no UTF-8 becomes U+FFFD, which is written otherwise than what stood there.
  const rewritten = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(head));
  let at = 0;
  while (at < head.length && head[at] === rewritten[at]) at += 1;
  // The beginning of a U+FFFD is written to its end.
  if (at === bytes.length && rewritten.length === at) return undefined;
  // A stream keeps back the beginning of a character; without its byte order mark the text is the one of other places.
  const text = new TextDecoder().decode(head.subarray(0, at), { stream: true }).replaceAll('\r\n', '\n');
  return placeAt(text, text.length);
}
