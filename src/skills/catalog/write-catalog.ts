import { stepDown } from './step-down.ts';
import type { BudgetSteps, CatalogEntry, CatalogFormat, CatalogLayout, CatalogLevel } from './catalog-entry.ts';
import { markdownLayout } from './catalog-markdown.ts';
import { textLayout } from './catalog-text.ts';
import { xmlLayout } from './catalog-xml.ts';
import { cutSizes, SHORTEST_DESCRIPTION } from './cut-sizes.ts';
import { cutTo } from '../text/text.ts';

const LAYOUTS: Readonly<Record<CatalogFormat, CatalogLayout>> = {
  text: textLayout,
  xml: xmlLayout,
  markdown: markdownLayout,
};

const BYTES_PER_TOKEN = 4;

/** A written catalog, and the cuts that its budget required. */
export interface WrittenCatalog {
  text: string;
  cut: {
    level: CatalogLevel;
    /** Full ids that were left out, in the catalog's order. */
    omitted: string[];
  };
}

/**
 * Writes a catalog. With a budget it takes the first form that fits: full · descriptions cut evenly, as little as
 * possible · ids only · the longest beginning of the ids, with a last line that counts the rest.
 *
 * @param entries numbered skills
 * @param format the form of the catalog
 * @param budget tokens of the whole text; undefined for no limit
 * @param steps `entries` cuts one entry after the other, from the last one on: full · brief · only the id
 * @returns the text and the cuts
 */
export function writeCatalog(
  entries: readonly CatalogEntry[],
  format: CatalogFormat,
  budget: number | undefined,
  steps: BudgetSteps = 'all',
): WrittenCatalog {
  const layout = LAYOUTS[format];
  if (entries.length === 0) return { text: layout.empty, cut: { level: 'full', omitted: [] } };
  const full = writeFull(entries, layout, Number.POSITIVE_INFINITY);
  if (budget === undefined) return { text: full, cut: { level: 'full', omitted: [] } };
  const limit = budget * BYTES_PER_TOKEN;
  if (steps === 'entries') {
    const stepped = stepDown(entries, layout, limit);
    if (stepped !== undefined) return { text: stepped.text, cut: { level: stepped.level, omitted: [] } };
    return writeIds(entries, layout, limit);
  }
  const fullBytes = Buffer.byteLength(full);
  if (fullBytes <= limit) return { text: full, cut: { level: 'full', omitted: [] } };
  const length = longestFitting(entries, layout, fullBytes, limit);
  if (length !== undefined) {
    return { text: writeFull(entries, layout, length), cut: { level: 'descriptions', omitted: [] } };
  }
  return writeIds(entries, layout, limit);
}

function writeFull(entries: readonly CatalogEntry[], layout: CatalogLayout, length: number): string {
  const { before, between, after } = layout.frame;
  const parts = entries.map((entry) => layout.entry(entry, cutTo(entry.description, length)));
  return `${before}${parts.join(between)}${after}`;
}

/** The largest length for all descriptions at which the whole fits; undefined if no length fits. */
function longestFitting(
  entries: readonly CatalogEntry[],
  layout: CatalogLayout,
  fullBytes: number,
  limit: number,
): number | undefined {
  const descriptions = entries.map((entry) => entry.description);
  const { full, cut } = cutSizes(descriptions, layout.description);
  const index = cut.findLastIndex((size) => fullBytes - full + size <= limit);
  return index < 0 ? undefined : index + SHORTEST_DESCRIPTION;
}

function writeIds(entries: readonly CatalogEntry[], layout: CatalogLayout, limit: number): WrittenCatalog {
  const { before, after } = layout.idFrame;
  const lines = entries.map((entry) => layout.idEntry(entry));
  const all = `${before}${lines.join('')}${after}`;
  if (Buffer.byteLength(all) <= limit) return { text: all, cut: { level: 'ids', omitted: [] } };
  const ends = endsOf(lines);
  const fixed = Buffer.byteLength(before) + Buffer.byteLength(after);
  const fits = (count: number): boolean =>
    fixed + (ends[count] ?? 0) + Buffer.byteLength(noticeAfter(count, entries.length, layout)) <= limit;
  let kept = entries.length - 1;
  while (kept > 0 && !fits(kept)) kept -= 1;
  const text = `${before}${lines.slice(0, kept).join('')}${after}${noticeAfter(kept, entries.length, layout)}`;
  return { text, cut: { level: 'omitted', omitted: entries.slice(kept).map((entry) => entry.skill.id) } };
}

/** Bytes of the first n lines, for every n. */
function endsOf(lines: readonly string[]): number[] {
  let end = 0;
  return [0, ...lines.map((line) => (end += Buffer.byteLength(line)))];
}

function noticeAfter(kept: number, total: number, layout: CatalogLayout): string {
  return `${layout.beforeNotice(kept)}… and ${total - kept} more skills: ask for the catalog by name.\n`;
}
