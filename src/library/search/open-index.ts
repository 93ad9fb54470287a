import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { privatePart } from '../stores/cache/private-folder.ts';
import { buildIndex } from './build-index.ts';
import { findIndex, keepIndex } from './kept-index.ts';
import { createHash } from 'node:crypto';
import { FIELD_WEIGHTS } from './searched-fields.ts';

/** Increased whenever the index of the same skills would change. */
const FORMAT = 1;

const digests = new WeakMap<readonly Skill[], string>();

/** An open index, with the diagnostics of its opening. */
export interface OpenIndex {
  database: DatabaseSync;
  diagnostics: Diagnostic[];
}

/** Open indexes of this process. A dropped one is closed by the garbage collector. */
const open = new Map<string, OpenIndex>();
const OPEN_INDEXES = 8;

/**
 * Opens the index of some skills: an open one, else a kept one, else a new one.
 *
 * @param skills sorted by full id
 * @param cacheFolder indexes are kept in a folder below it
 * @throws SkillcellError `search.unavailable`, and the signal's reason
 */
export async function openIndex(
  skills: readonly Skill[],
  cacheFolder: string,
  signal: AbortSignal | undefined,
): Promise<OpenIndex> {
  const set = setDigest(skills);
  const key = `${set} ${cacheFolder}`;
  const known = open.get(key) ?? (await openedIndex(skills, { cacheFolder, set, signal }));
  open.delete(key);
  open.set(key, known);
  const [oldest] = open.keys();
  if (open.size > OPEN_INDEXES && oldest !== undefined) open.delete(oldest);
  return known;
}

interface Opening {
  cacheFolder: string;
  set: string;
  signal: AbortSignal | undefined;
}

async function openedIndex(skills: readonly Skill[], { cacheFolder, set, signal }: Opening): Promise<OpenIndex> {
  const place = searchFolder(cacheFolder);
  const found = place.fault === null ? findIndex(place.folder, set) : undefined;
  if (found !== undefined) return { database: found, diagnostics: [] };
  const database = await buildIndex(skills, signal);
  if (place.fault !== null) return { database, diagnostics: [notKept(place.folder, place.fault)] };
  try {
    keepIndex(place.folder, set, database);
  } catch (cause) {
    return { database, diagnostics: [notKept(place.folder, (cause as Error).message)] };
  }
  const kept = findIndex(place.folder, set);
  if (kept === undefined) return { database, diagnostics: [] };
  // The file is read page by page; the built index holds all of it in memory.
  database.close();
  return { database: kept, diagnostics: [] };
}

/** The folder of indexes, or the reason why none is read or kept: other users could plant indexes in a folder that they may write. */
function searchFolder(cacheFolder: string): { folder: string; fault: string | null } {
  try {
    return { folder: privatePart(cacheFolder, 'search'), fault: null };
  } catch (cause) {
    return { folder: join(cacheFolder, 'search'), fault: (cause as Error).message };
  }
}

/** The search works all the same, and the next process builds the index again. */
function notKept(folder: string, why: string): Diagnostic {
  const reason = why.endsWith('.') ? why.slice(0, -1) : why;
  return libraryDiagnostic('search.not-kept', `The index of the search cannot be kept in ${folder}: ${reason}.`);
}

/**
 * Digest that names the index of a set of skills: equal skills give an equal index. Word boundaries also depend on Node's Unicode data. The list
 * must not change.
 */
export function setDigest(skills: readonly Skill[]): string {
  const known = digests.get(skills);
  if (known !== undefined) return known;
  const { icu = '', unicode = '' } = process.versions;
  const hash = createHash('sha256').update(JSON.stringify([FORMAT, icu, unicode, FIELD_WEIGHTS]));
  for (const { id, digest } of skills) hash.update(`\n${id}\0${digest}`);
  const set = hash.digest('hex');
  digests.set(skills, set);
  return set;
}
