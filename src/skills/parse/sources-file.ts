import { type Diagnostic, diagnostic, type DiagnosticPlace } from '../../contracts/errors/diagnostic.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import type { TextPlace } from '../text/text-place.ts';
import { readDataFile } from './yaml/data-file.ts';
import { commentDiagnostics } from './yaml/plain-comments.ts';
import { normalizeSourceRow } from './source-row.ts';
import { dataOf, entriesOf, isNull, itemsOf, setOwn, writtenText } from './yaml/yaml-values.ts';

/** The sources of a skill, with the faults of the file. */
export interface SourcesReading {
  rows: SourceRow[];
  diagnostics: Diagnostic[];
}

/** Fields that are texts even if they look like numbers. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'url',
  'href',
  'title',
  'text',
  'physical_path',
  'local_path',
  'base64',
]);

/**
 * Reads `sources.yaml`: a list or a map keyed by sid, under `sources` or `items` or bare.
 *
 * @param bytes the whole file
 * @param path path that diagnostics name; default `sources.yaml`
 * @param everyComment whether every comment behind a value without quotes is reported; by default only comments that look like a text
 * @returns normalized rows in the order of the file
 */
export function readSourcesFile(bytes: Uint8Array, path = 'sources.yaml', everyComment = false): SourcesReading {
  const invalid = (message: string, place?: TextPlace): SourcesReading => ({
    rows: [],
    diagnostics: [diagnostic('sources.invalid', message, { path, ...place })],
  });
  const file = readDataFile(bytes);
  if (!file.ok) return invalid(`The file cannot be read: ${file.message}.`, file.place);
  const comments = commentDiagnostics(file.root, file.text, { code: 'sources.comment', path, every: everyComment });
  const nodes = new Map((entriesOf(file.root) ?? []).map(({ key, node }) => [key, node]));
  const rows = nodes.has('sources') ? nodes.get('sources') : nodes.has('items') ? nodes.get('items') : file.root;
  if (isNull(rows)) return { rows: [], diagnostics: comments };
  const records =
    itemsOf(rows)?.map((node) => ({ record: recordOf(node), node })) ??
    entriesOf(rows)?.map(({ key, keyNode, node }) => ({ record: keyedRecord(key, node), node: keyNode }));
  if (records === undefined) return invalid('The file must hold a list, or a map keyed by sid.', file.placeOf(rows));
  const collected = collectRows(records, (node) => ({ path, ...file.placeOf(node) }));
  return { rows: collected.rows, diagnostics: [...comments, ...collected.diagnostics] };
}

/** One written row, and the node that its diagnostics point to. */
interface WrittenRow {
  record: Record<string, unknown> | undefined;
  node: unknown;
}

function collectRows(records: readonly WrittenRow[], placeOf: (node: unknown) => DiagnosticPlace): SourcesReading {
  const rows: SourceRow[] = [];
  const diagnostics: Diagnostic[] = [];
  const taken = new Set<number>();
  for (const [index, { record, node }] of records.entries()) {
    const { row, diagnostics: found } = normalizeSourceRow(record ?? {});
    if (row.url === undefined && row.physical_path === undefined) {
      const message = `Source ${index + 1} has neither url nor local path; it was dropped.`;
      diagnostics.push(diagnostic('sources.entry', message, placeOf(node)));
      continue;
    }
    if (row.sid !== undefined && taken.has(row.sid)) {
      const message = `A second source has the sid ${row.sid}; it was dropped.`;
      diagnostics.push(diagnostic('sources.duplicate-sid', message, placeOf(node)));
      continue;
    }
    if (row.sid !== undefined) taken.add(row.sid);
    rows.push(row);
    diagnostics.push(...found.map((finding) => ({ ...finding, ...placeOf(node) })));
  }
  return { rows, diagnostics };
}

function keyedRecord(key: string, node: unknown): Record<string, unknown> | undefined {
  const record = recordOf(node);
  return record === undefined ? undefined : { ...record, sid: key };
}

function recordOf(node: unknown): Record<string, unknown> | undefined {
  const entries = entriesOf(node);
  if (entries === undefined) return undefined;
  const record: Record<string, unknown> = {};
  for (const { key, node: value } of entries)
    setOwn(record, key, (TEXT_FIELDS.has(key) ? writtenText(value) : undefined) ?? dataOf(value));
  return record;
}
