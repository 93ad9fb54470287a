import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SourceRow } from '../../contracts/skills/skill.ts';
import { normalizeUrl } from './normalize-url.ts';

/** Optional fields of a row that are kept as they are. */
export const KEPT_FIELDS: readonly string[] = [
  'title',
  'text',
  'published_time_iso',
  'modified_time_iso',
  'fetched_time_iso',
  'author',
  'authority',
  'provider_rank',
  'weighted_rank',
  'source_type',
  'mime',
  'size_bytes',
  'favicon_url',
  'favicon',
  'content',
  'base64',
];

/** The most UTF-16 units of `base64` in a row. */
export const BASE64_LIMIT = 4000;

/** A row in the form that the pool takes. */
export interface SourceRowReading {
  row: SourceRow;
  diagnostics: Diagnostic[];
}

/**
 * Puts a row of sources into the form of the pool: `url` from `url` or `href`, normalized; `physical_path` from itself
 * or `local_path`; a positive integer as `sid`; known optional fields as they are. Other fields are dropped.
 *
 * @param raw a row as it was written
 * @returns the row; a row without `url` and `physical_path` is useless to a pool
 */
export function normalizeSourceRow(raw: Readonly<Record<string, unknown>>): SourceRowReading {
  const diagnostics: Diagnostic[] = [];
  const row: SourceRow = {};
  const sid = positiveInteger(raw['sid']);
  if (sid !== undefined) row.sid = sid;
  else if (!isMissing(raw['sid'])) {
    const message = `A sid must be a positive integer, got ${JSON.stringify(raw['sid'])}.`;
    diagnostics.push(diagnostic('sources.sid', message));
  }
  const url = firstText(raw['url'], raw['href']);
  if (url !== undefined) {
    const normalized = normalizeUrl(url);
    row.url = normalized.url;
    diagnostics.push(...normalized.diagnostics);
  }
  const physicalPath = firstText(raw['physical_path'], raw['local_path']);
  if (physicalPath !== undefined) row.physical_path = physicalPath;
  for (const field of KEPT_FIELDS) {
    const value = raw[field];
    if (isMissing(value)) continue;
    if (field === 'base64' && typeof value === 'string' && value.length > BASE64_LIMIT) {
      const message = `base64 may have ${BASE64_LIMIT} characters, it has ${value.length}; it was dropped.`;
      diagnostics.push(diagnostic('sources.base64', message));
    } else row[field] = value;
  }
  return { row, diagnostics };
}

/**
 * Tells whether a field of a row counts as absent.
 *
 * @param value value of the field
 */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function positiveInteger(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '')?.trim();
}
