import { expect, it } from 'vitest';
import { readRows } from '../../../src/jobs/session/session-files.ts';
import { MOST_ROWS } from '../../../src/protocol/messages/session-messages.ts';

const row = (fields: object): string => `${JSON.stringify({ path: 'a', kind: 'file', bytes: 0, ...fields })}\n`;
const read = (text: string, withBytes = false): object[] =>
  Array.from(readRows(Buffer.from(text), withBytes), ({ row: told, content }) => ({ ...told, content: `${content}` }));

it('reads rows, and behind those of files without a fault their bytes', () => {
  const text = `${row({ bytes: 2 })}ab${row({ path: 'b', bytes: 5, fault: 'unreadable (EACCES)' })}${row({ path: 'c', kind: 'folder', bytes: 7 })}`;
  expect(read(text, true)).toMatchObject([
    { path: 'a', content: 'ab' },
    { path: 'b', content: '', fault: 'unreadable (EACCES)' },
    { path: 'c', content: '' },
  ]);
});

it('takes a path of 4,096 bytes, each of them escaped', () => {
  expect(read(row({ path: '\u0001'.repeat(4_096) }))).toHaveLength(1);
});

it.each<[string, string, string]>([
  ['more rows than are told at once', row({}).repeat(MOST_ROWS + 2), 'a list of more files than are told at once'],
  ['a reason without an end', row({ fault: 'x'.repeat(201) }), 'a list of files of no known form'],
  ['a kind that is none', row({ kind: 'link' }), 'a list of files of no known form'],
  ['a field of its own', row({ more: 1 }), 'a list of files of no known form'],
  ['bytes that are not there', row({ bytes: 3 }), 'a list of files that ends early'],
  ['a line without an end', row({}).trim(), 'a list of files without an end of its line'],
  ['a line that is too long', row({ path: 'p'.repeat(40_000) }), 'a list of files without an end of its line'],
])('refuses %s', (_name, text, reason) => {
  expect(() => read(text, true)).toThrow(reason);
});
