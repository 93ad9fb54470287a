import { quotedText } from '../contracts/quoted-text.ts';
import { ARCHIVE_LIMITS } from './archive-limits.ts';
import type { ListedEntry } from './listed-entry.ts';
import { nameFault } from './name-fault.ts';

/** Of what an archive is refused before anything in it is inflated. */
export type EntryCheck = 'entries' | 'name' | 'link' | 'duplicate' | 'collision' | 'file-folder' | 'size';

/** Checks of the list of entries, in the order in which they are made. Each says what is wrong, or nothing. */
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

/** How a name is compared by systems that fold case, compose accents, or know no full-width letters. */
export function foldName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

/** Each folder on the way to an entry counts as one, also where it has no entry of its own: `A/x` and `a/y` are in one folder on some systems. */
function collision(entries: readonly ListedEntry[]): string | undefined {
  const byKey = new Map<string, string>();
  const isNew = (name: string): boolean => {
    const key = foldName(name);
    const first = byKey.get(key);
    if (first === undefined) byKey.set(key, name);
    return first === undefined || first === name;
  };
  for (const { name } of entries) {
    const other = [...foldersAbove(name), name].find((each) => !isNew(each));
    if (other !== undefined)
      return `two names that are one on some systems, got ${quotedText(byKey.get(foldName(other)) ?? '')} and ${quotedText(other)}`;
  }
  return undefined;
}

function twin(entries: readonly ListedEntry[]): string | undefined {
  const names = new Set<string>();
  for (const { name } of entries) {
    if (names.has(name)) return `two entries of one name, got ${quotedText(name)}`;
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
  return both === undefined ? undefined : `a name that is a file and a folder, got ${quotedText(both)}`;
}

function sizeFault(entries: readonly ListedEntry[]): string | undefined {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  return bytes <= ARCHIVE_LIMITS.unpackedBytes
    ? undefined
    : `over ${ARCHIVE_LIMITS.unpackedBytes} bytes unpacked, got ${bytes}`;
}

function foldersAbove(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
