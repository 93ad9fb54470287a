import { rewriteCitations } from '../../src/skills/render/citations.ts';
import type { CitationsRequest } from '../../src/skills/render/citations.ts';
import { sortedCodes } from './sorted-codes.ts';

/** Merges sources and rewrites citations. */
export function runCitations(input: unknown): Record<string, unknown> {
  const { pool, skills } = input as Partial<CitationsRequest>;
  const result = rewriteCitations({ pool: pool ?? [], skills: skills ?? [] });
  return { texts: result.texts, pool: result.pool, map: result.map, codes: sortedCodes(result.diagnostics) };
}
