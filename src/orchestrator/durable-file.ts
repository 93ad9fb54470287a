import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/** Writes all of a text: one call may write only a part of it. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
}

/** Puts the names in a folder on the disk; that a file itself is there says nothing of its name. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
