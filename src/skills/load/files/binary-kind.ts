import { extname } from 'node:path';

const KINDS: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.pdf', 'application/pdf'],
  ['.zip', 'application/zip'],
  ['.gz', 'application/gzip'],
  ['.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['.pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['.parquet', 'application/vnd.apache.parquet'],
  ['.sqlite', 'application/vnd.sqlite3'],
  ['.wasm', 'application/wasm'],
  ['.ttf', 'font/ttf'],
  ['.woff2', 'font/woff2'],
  ['.mp3', 'audio/mpeg'],
  ['.mp4', 'video/mp4'],
]);

/**
 * Returns the media type of a binary file by its name, for a message.
 *
 * @param path path of the file
 * @returns a media type
 */
export function binaryKindOf(path: string): string {
  return KINDS.get(extname(path).toLowerCase()) ?? 'application/octet-stream';
}
