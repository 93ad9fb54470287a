import type { CatalogEntry, CatalogLayout } from './catalog-entry.ts';

/** How much of one entry is written. */
export type EntryLevel = 'full' | 'brief' | 'ids';

/** A catalog in which each entry has its own level. */
export interface SteppedCatalog {
  text: string;
  /** The lowest level that an entry has. */
  level: EntryLevel;
}

/**
 * Writes as much of a catalog as fits. From the last entry on, entries first become brief, then shrink to their ids.
 *
 * @param entries numbered skills, at least one
 * @param layout the form of the catalog
 * @param limit bytes of the whole text
 * @returns the text, or undefined when not even the ids of all fit
 */
export function stepDown(
  entries: readonly CatalogEntry[],
  layout: CatalogLayout,
  limit: number,
): SteppedCatalog | undefined {
  const forms: Record<EntryLevel, string[]> = {
    full: entries.map((entry) => layout.entry(entry, entry.description)),
    brief: entries.map((entry) => layout.briefEntry(entry)),
    ids: entries.map((entry) => layout.idEntry(entry)),
  };
  const levels: EntryLevel[] = entries.map(() => 'full');
  const fits = (): boolean => sizeOf(levels, forms, layout) <= limit;
  if (fits()) return { text: join(levels, forms, layout), level: 'full' };
  for (const level of ['brief', 'ids'] as const) {
    for (let at = entries.length - 1; at >= 0; at -= 1) {
      levels[at] = level;
      if (fits()) return { text: join(levels, forms, layout), level };
    }
  }
  return undefined;
}

function sizeOf(levels: readonly EntryLevel[], forms: Record<EntryLevel, string[]>, layout: CatalogLayout): number {
  const { before, between, after } = layout.frame;
  let bytes = Buffer.byteLength(before) + Buffer.byteLength(after);
  for (const [at, level] of levels.entries()) {
    bytes += Buffer.byteLength(forms[level][at] ?? '');
    if (isApart(levels, at)) bytes += Buffer.byteLength(between);
  }
  return bytes;
}

function join(levels: readonly EntryLevel[], forms: Record<EntryLevel, string[]>, layout: CatalogLayout): string {
  const { before, between, after } = layout.frame;
  const parts = levels.map((level, at) => `${isApart(levels, at) ? between : ''}${forms[level][at] ?? ''}`);
  return `${before}${parts.join('')}${after}`;
}

/** Ids follow each other without a gap; every other entry has a gap above it. */
function isApart(levels: readonly EntryLevel[], at: number): boolean {
  return at > 0 && !(levels[at] === 'ids' && levels[at - 1] === 'ids');
}
