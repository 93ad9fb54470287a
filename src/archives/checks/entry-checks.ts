import { quotedText } from '../../contracts/text/quoted-text.ts';
import { ARCHIVE_LIMITS } from './archive-limits.ts';
import type { ListedEntry } from './listed-entry.ts';
import { foldersAbove, nameCollision } from './name-collision.ts';
import { nameFault } from './name-fault.ts';

/** Checks of the entry list, before any data is inflated. */
export type EntryCheck = 'entries' | 'name' | 'link' | 'duplicate' | 'collision' | 'file-folder' | 'size';

/** Checks of the entry list in their order. Each returns a fault or undefined. */
export const ENTRY_CHECKS: readonly [EntryCheck, (entries: readonly ListedEntry[]) => string | undefined][] = [
  [
    'entries',
    (entries) => (entries.length > ARCHIVE_LIMITS.entries ? `more than ${ARCHIVE_LIMITS.entries} entries` : undefined),
  ],
  ['name', (entries) => firstFault(entries, ({ name }) => nameFault(name))],
  [
    'link',
    (entries) =>
      firstFault(entries, ({ name, kind }) =>
        kind === 'link' || kind === 'other'
          ? `a ${kind === 'link' ? 'link' : 'device, fifo or socket'}, got ${quotedText(name)}`
          : undefined,
      ),
  ],
  ['duplicate', twin],
  ['collision', collision],
  ['file-folder', fileThatIsFolder],
  ['size', sizeFault],
];

function firstFault(
  entries: readonly ListedEntry[],
  faultOf: (entry: ListedEntry) => string | undefined,
): string | undefined {
  for (const entry of entries) {
    const fault = faultOf(entry);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function collision(entries: readonly ListedEntry[]): string | undefined {
  const found = nameCollision(entries.map(({ name }) => name));
  if (found === undefined) return undefined;
  return `two names that are the same on some systems, got ${found.map((name) => quotedText(name)).join(' and ')}`;
}

function twin(entries: readonly ListedEntry[]): string | undefined {
  const names = new Set<string>();
  for (const { name } of entries) {
    if (names.has(name)) return `two entries with the same name, got ${quotedText(name)}`;
    names.add(name);
  }
  return undefined;
}

function fileThatIsFolder(entries: readonly ListedEntry[]): string | undefined {
  const files = new Set(entries.filter(({ kind }) => kind !== 'folder').map(({ name }) => name));
  const folders = entries.flatMap(({ name, kind }) => [...foldersAbove(name), ...(kind === 'folder' ? [name] : [])]);
  const filled = entries.find(({ kind, bytes }) => kind === 'folder' && bytes > 0);
  if (filled !== undefined) return `a folder with data, got ${quotedText(filled.name)}`;
  const both = folders.find((folder) => files.has(folder));
  return both === undefined ? undefined : `a name of both a file and a folder, got ${quotedText(both)}`;
}

function sizeFault(entries: readonly ListedEntry[]): string | undefined {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return bytes <= ARCHIVE_LIMITS.unpackedBytes
    ? undefined
    : `over ${ARCHIVE_LIMITS.unpackedBytes} bytes unpacked, got ${bytes}`;
}
