import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Diagnostic } from '../../contracts/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/library-diagnostic.ts';
import type { Skill } from '../../contracts/skill.ts';
import { buildIndex } from './build-index.ts';
import { findIndex, keepIndex } from './kept-index.ts';
import { setDigest } from './set-digest.ts';

/** An index that can be asked, with what was found while it was opened. */
export interface OpenIndex {
  database: DatabaseSync;
  diagnostics: Diagnostic[];
}

/** Indexes that this process has open. What is dropped here is closed when nobody has it any more. */
const open = new Map<string, OpenIndex>();
const OPEN_INDEXES = 8;

/**
 * Opens the index of some skills: the one that is open, else the one that is kept, else one that is built now.
 *
 * @param skills sorted by full id
 * @param cacheFolder where indexes are kept, in a folder of their own
 * @throws SkillcellError `search.unavailable`, and the signal's reason
 */
export async function openIndex(
  skills: readonly Skill[],
  cacheFolder: string,
  signal: AbortSignal | undefined,
): Promise<OpenIndex> {
  const folder = join(cacheFolder, 'search');
  const set = setDigest(skills);
  const key = `${set} ${folder}`;
  const known = open.get(key) ?? foundIndex(folder, set) ?? (await builtIndex(skills, { folder, set, signal }));
  open.delete(key);
  open.set(key, known);
  const [oldest] = open.keys();
  if (open.size > OPEN_INDEXES && oldest !== undefined) open.delete(oldest);
  return known;
}

function foundIndex(folder: string, set: string): OpenIndex | undefined {
  const database = findIndex(folder, set);
  return database === undefined ? undefined : { database, diagnostics: [] };
}

interface Build {
  folder: string;
  set: string;
  signal: AbortSignal | undefined;
}

async function builtIndex(skills: readonly Skill[], { folder, set, signal }: Build): Promise<OpenIndex> {
  const database = await buildIndex(skills, signal);
  try {
    keepIndex(folder, set, database);
  } catch (cause) {
    // It answers all the same, and the next process builds it again.
    const message = `The index of the search cannot be kept in ${folder}: ${(cause as Error).message}.`;
    return { database, diagnostics: [libraryDiagnostic('search.not-kept', message)] };
  }
  const kept = foundIndex(folder, set);
  if (kept === undefined) return { database, diagnostics: [] };
  // The file is read page by page; what was built holds all of it in memory.
  database.close();
  return kept;
}
