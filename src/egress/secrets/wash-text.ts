import { findEach } from './find-form.ts';
import type { WashTable } from './wash-table.ts';

/**
 * Replaces secrets in a status phrase, or the name or value of a header. Also replaces copies in other cases, because names of headers and
 * hosts are compared without case.
 *
 * @param text latin1, as in `rawHeaders` of Node
 */
export function washText(text: string, table: WashTable): string {
  let bytes: Buffer = Buffer.from(text, 'latin1');
  for (const starts of [table.starts, table.startsInAnyCase]) {
    const pieces: Buffer[] = [];
    let from = 0;
    for (
      let found = findEach(starts, bytes, 0, true);
      found?.end !== undefined;
      found = findEach(starts, bytes, from, true)
    ) {
      pieces.push(bytes.subarray(from, found.start), found.put);
      from = found.end;
    }
    if (from > 0) bytes = Buffer.concat([...pieces, bytes.subarray(from)]);
  }
  return bytes.toString('latin1');
}
