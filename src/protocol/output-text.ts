import { StringDecoder } from 'node:string_decoder';
import type { OutputText } from '../contracts/jobs/result.ts';

/**
 * What is kept of a stream of output, as text. A character that the cap cuts in two is left out; one that the program left
 * unfinished is shown as broken.
 *
 * @param kept the beginning of the stream
 * @param bytes how many there were in all; where that is more, the text is truncated
 */
export function outputText(kept: readonly Uint8Array[], bytes: number): OutputText {
  const whole = Buffer.concat(kept);
  const truncated = bytes > whole.length;
  const decoder = new StringDecoder('utf8');
  const text = decoder.write(whole);
  return { text: truncated ? text : text + decoder.end(), bytes, truncated };
}
