import { expect, it } from 'vitest';
import { binaryKindOf } from '../../../src/skills/load/files/binary-kind.ts';

it.each([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['gz', 'application/gzip'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['parquet', 'application/vnd.apache.parquet'],
  ['sqlite', 'application/vnd.sqlite3'],
  ['wasm', 'application/wasm'],
  ['ttf', 'font/ttf'],
  ['woff2', 'font/woff2'],
  ['mp3', 'audio/mpeg'],
  ['mp4', 'video/mp4'],
  ['other', 'application/octet-stream'],
])('binaryKindOf() knows .%s by its ending, in either case', (ending, kind) => {
  expect(binaryKindOf(`a.b/x.${ending}`)).toBe(kind);
  expect(binaryKindOf(`X.${ending.toUpperCase()}`)).toBe(kind);
});
