import * as z from 'zod/mini';
import { parseBoundedJson } from '../../protocol/bounded-json.ts';
import { MOST_ROWS, type WorkspaceRow } from '../../protocol/session-messages.ts';

/** The longest path, each of its bytes escaped, and the other fields. */
const LINE_BYTES = 32 * 1024;
const FAULT_CHARACTERS = 200;
const rowSchema = z.strictObject({
  path: z.string(),
  kind: z.enum(['file', 'folder', 'other']),
  bytes: z.number().check(z.int(), z.nonnegative()),
  executable: z.optional(z.boolean()),
  fault: z.optional(z.string().check(z.maxLength(FAULT_CHARACTERS))),
});

/** Reads entries of a workspace: a line of JSON each; with `withBytes` the bytes of a file follow its line. Hostile until read. */
export function* readRows(text: Buffer, withBytes: boolean): Generator<{ row: WorkspaceRow; content: Buffer }> {
  let rows = 0;
  for (let offset = 0; offset < text.length;) {
    // The last one may say that there are more.
    if ((rows += 1) > MOST_ROWS + 1) throw new Error('a list of more files than are told at once');
    const end = text.indexOf(10, offset);
    if (end < 0 || end - offset > LINE_BYTES) throw new Error('a list of files without an end of its line');
    const parsed = z.safeParse(rowSchema, parseBoundedJson(text.subarray(offset, end), { maxBytes: LINE_BYTES }));
    if (!parsed.success) throw new Error('a list of files of no known form');
    const row = parsed.data as WorkspaceRow;
    offset = end + 1;
    const size = withBytes && row.kind === 'file' && row.fault === undefined ? row.bytes : 0;
    if (offset + size > text.length) throw new Error('a list of files that ends early');
    yield { row, content: text.subarray(offset, offset + size) };
    offset += size;
  }
}
