import { isScalar } from './yaml/lazy-yaml.ts';
import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { ToolRow } from '../../contracts/skills/skill.ts';
import type { TextPlace } from '../text/text-place.ts';
import { readDataFile } from './yaml/data-file.ts';
import { commentDiagnostics } from './yaml/plain-comments.ts';
import { entriesOf, isNull, itemsOf, writtenText } from './yaml/yaml-values.ts';

/** The tools that a skill names, with the faults of the file. */
export interface ToolsReading {
  rows: ToolRow[];
  diagnostics: Diagnostic[];
}

/**
 * Reads `tools.yaml`: a list under `tools` or `tool_ids`, or the bare list, of ids or of maps with an id.
 *
 * @param bytes the whole file
 * @param path path that diagnostics name; default `tools.yaml`
 * @param everyComment whether every comment behind a value without quotes is reported; by default only comments that look like a text
 * @returns rows with an id each
 */
export function readToolsFile(bytes: Uint8Array, path = 'tools.yaml', everyComment = false): ToolsReading {
  const invalid = (message: string, place?: TextPlace): ToolsReading => ({
    rows: [],
    diagnostics: [diagnostic('tools.invalid', message, { path, ...place })],
  });
  const file = readDataFile(bytes);
  if (!file.ok) return invalid(`The file cannot be read: ${file.message}.`, file.place);
  const comments = commentDiagnostics(file.root, file.text, { code: 'tools.comment', path, every: everyComment });
  if (isNull(file.root)) return { rows: [], diagnostics: comments };
  const nodes = new Map((entriesOf(file.root) ?? []).map(({ key, node }) => [key, node]));
  const list = nodes.has('tools') ? nodes.get('tools') : nodes.has('tool_ids') ? nodes.get('tool_ids') : file.root;
  if (isNull(list)) return { rows: [], diagnostics: comments };
  const items = itemsOf(list);
  if (items === undefined) return invalid('The file must hold a list under tools or tool_ids.', file.placeOf(list));

  const rows: ToolRow[] = [];
  const diagnostics: Diagnostic[] = [...comments];
  for (const [index, item] of items.entries()) {
    const row = toolRow(item);
    if (row === undefined) {
      const message = `Entry ${index + 1} has no id; it was dropped.`;
      diagnostics.push(diagnostic('tools.entry', message, { path, ...file.placeOf(item) }));
    } else rows.push(row);
  }
  return { rows, diagnostics };
}

function toolRow(item: unknown): ToolRow | undefined {
  const nodes = new Map((entriesOf(item) ?? []).map(({ key, node }) => [key, node]));
  const text = (key: string): string | undefined => writtenText(nodes.get(key))?.trim() || undefined;
  const id = isScalar(item) ? writtenText(item)?.trim() : text('id');
  if (id === undefined || id === '') return undefined;
  const row: ToolRow = { id };
  const role = text('role');
  if (role !== undefined) row.role = role;
  const why = text('why') ?? text('reason') ?? text('description');
  if (why !== undefined) row.why = why;
  const required = nodes.get('required');
  if (isScalar(required) && typeof required.value === 'boolean') row.required = required.value;
  return row;
}
