import { StringDecoder } from 'node:string_decoder';
import type { OutputText } from '../contracts/jobs/result.ts';

/**
 * Decodes the kept part of an output stream. A character that the cap cuts in two is left out; a character that the program left
 * unfinished becomes U+FFFD.
 *
 * @param kept the beginning of the stream
 * @param bytes total bytes of the stream; the text is truncated if this is more than `kept`
 */
export function outputText(kept: readonly Uint8Array[], bytes: number): OutputText {
  const whole = Buffer.concat(kept);
  const truncated = bytes > whole.length;
  const decoder = new StringDecoder('utf8');
  const text = decoder.write(whole);
  return { text: truncated ? text : text + decoder.end(), bytes, truncated };
}
