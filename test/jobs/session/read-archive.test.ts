import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { readArchive } from '../../../src/jobs/session/read-archive.ts';

interface Entry {
  name: string;
  type?: 'directory' | 'symlink';
  linkname?: string;
  mode?: number;
}

/** An archive of these entries; each file holds its own name. */
async function archiveOf(...entries: Entry[]): Promise<Uint8Array> {
  const archive = pack();
  for (const entry of entries) {
    if (entry.type === undefined) archive.entry(entry, entry.name);
    else archive.entry(entry);
  }
  archive.finalize();
  return await buffer(archive);
}

const CAPS = { files: 3, bytes: 100 };

describe('readArchive()', () => {
  it('reads files and their executable bits, and needs no entries of folders', async () => {
    const archive = await archiveOf(
      { name: './', type: 'directory' },
      { name: 'a/', type: 'directory' },
      { name: './a/b.sh', mode: 0o755 },
      { name: 'c/d/e' },
    );
    expect(await readArchive(archive, CAPS)).toEqual([
      { destination: 'a/b.sh', bytes: Buffer.from('./a/b.sh'), executable: true },
      { destination: 'c/d/e', bytes: Buffer.from('c/d/e'), executable: false },
    ]);
  });

  it.each<[string, Entry[]]>([
    ['an entry is no regular file, got symlink', [{ name: 'a', type: 'symlink', linkname: '/etc/passwd' }]],
    ['two entries have the same name, got "a"', [{ name: 'a' }, { name: './a' }]],
    ['a file stands where a folder should, got "a"', [{ name: 'a' }, { name: 'a/b/c' }]],
    ['a file stands where a folder should, got "a/b"', [{ name: 'a/b/c' }, { name: 'a/b' }]],
    ['over 3 files', ['a', 'b', 'c', 'd'].map((name) => ({ name }))],
    ['over 100 bytes', [{ name: 'x'.repeat(60) }, { name: 'y'.repeat(60) }]],
  ])('refuses an archive where %s', async (reason, entries) => {
    await expect(readArchive(await archiveOf(...entries), CAPS)).rejects.toMatchObject({
      code: 'archive.refused',
      message: `Cannot take the archive: ${reason}.`,
    });
  });
});
