import { expect, it } from 'vitest';
import { readRows } from '../../../src/jobs/session/session-files.ts';
import { MOST_ROWS } from '../../../src/protocol/messages/session-messages.ts';

const row = (fields: object): string => `${JSON.stringify({ path: 'a', kind: 'file', bytes: 0, ...fields })}\n`;
const read = (text: string, withBytes = false): object[] =>
  Array.from(readRows(Buffer.from(text), withBytes), ({ row: told, content }) => ({ ...told, content: `${content}` }));

it('reads rows, and the bytes after each row of a file without a fault', () => {
  const text = `${row({ bytes: 2 })}ab${row({ path: 'b', bytes: 5, fault: 'unreadable (EACCES)' })}${row({ path: 'c', kind: 'folder', bytes: 7 })}`;
  expect(read(text, true)).toMatchObject([
    { path: 'a', content: 'ab' },
    { path: 'b', content: '', fault: 'unreadable (EACCES)' },
    { path: 'c', content: '' },
  ]);
});

it('accepts a path of 4,096 bytes that are all escaped', () => {
  expect(read(row({ path: '\u0001'.repeat(4_096) }))).toHaveLength(1);
});

it.each<[string, string, string]>([
  ['too many rows', row({}).repeat(MOST_ROWS + 2), `the list has more than ${MOST_ROWS} files`],
  ['a reason that is too long', row({ fault: 'x'.repeat(201) }), 'the list has an unknown form'],
  ['an unknown kind', row({ kind: 'link' }), 'the list has an unknown form'],
  ['an unknown field', row({ more: 1 }), 'the list has an unknown form'],
  ['missing bytes', row({ bytes: 3 }), 'the list ends early'],
  ['a line without an end', row({}).trim(), 'a line of the list does not end within 32768 bytes'],
  ['a line that is too long', row({ path: 'p'.repeat(40_000) }), 'a line of the list does not end within 32768 bytes'],
])('refuses %s', (_name, text, reason) => {
  expect(() => read(text, true)).toThrow(reason);
});
