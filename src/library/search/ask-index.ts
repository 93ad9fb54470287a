import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A word of the query. */
export interface AskedWord {
  word: string;
  /** Number of skills that contain it. */
  skills: number;
  /** Its weight in a score: rarer words weigh more. */
  worth: number;
}

/** Answer of an index. */
export interface IndexAnswer {
  /** Best first; ties by id. Rows count from 0; a larger score is better. */
  rows: { row: number; score: number }[];
  /** Words that were used, the rarest first. */
  words: AskedWord[];
  /** Number of skills that contain at least one of them. */
  found: number;
}

/** Limit of words per query, starting with the rarest. */
const MOST_WORDS = 64;
/** Limit of scores for all words together. In a large set, the most common words, which distinguish least, are dropped. */
const MOST_SCORES = 10_000;
/** FTS5's own weight for a word that at least half of the rows contain. */
const LEAST_WORTH = 1e-6;

/**
 * Searches for words by the BM25 of FTS5, with another weight of words: FTS5 gives almost no weight to a word in half of the skills. In a set of
 * five skills, that is a word in three of them.
 *
 * @param skills number of skills in the index
 * @param most limit of rows
 */
export function askIndex(
  database: DatabaseSync,
  words: ReadonlySet<string>,
  { skills, most }: { skills: number; most: number },
): IndexAnswer {
  const { count, rank } = statementsOf(database);
  const known: AskedWord[] = [];
  for (const word of words) {
    const row = count.get(word) as unknown as [number] | undefined;
    if (row !== undefined) known.push({ word, skills: row[0], worth: worthOf(row[0], skills) });
  }
  const asked = rarest(known);
  const scores = new Map<number, number>();
  for (const { word, skills: holding, worth } of asked) {
    const factor = worth / Math.max(Math.log((skills - holding + 0.5) / (holding + 0.5)), LEAST_WORTH);
    // A quoted text of letters and digits only cannot be an operator.
    for (const [row, score] of rank.all(`"${word}"`) as unknown as [number, number][])
      scores.set(row, (scores.get(row) ?? 0) - score * factor);
  }
  const rows = [...scores].map(([row, score]) => ({ row: row - 1, score }));
  rows.sort((a, b) => b.score - a.score || a.row - b.row);
  return { rows: rows.slice(0, most), words: asked, found: rows.length };
}

/** Lucene's formula: never negative, and strictly decreasing. */
function worthOf(holding: number, skills: number): number {
  return Math.log(1 + (skills - holding + 0.5) / (holding + 0.5));
}

function rarest(words: readonly AskedWord[]): AskedWord[] {
  const asked: AskedWord[] = [];
  let scores = 0;
  // Ties go by the alphabet, so that the order of the words does not matter.
  for (const word of words.toSorted((a, b) => a.skills - b.skills || (a.word < b.word ? -1 : 1))) {
    scores += word.skills;
    if (asked.length === MOST_WORDS || (asked.length > 0 && scores > MOST_SCORES)) break;
    asked.push(word);
  }
  return asked;
}

interface Statements {
  count: StatementSync;
  rank: StatementSync;
}

const statements = new WeakMap<DatabaseSync, Statements>();

function statementsOf(database: DatabaseSync): Statements {
  let made = statements.get(database);
  if (made === undefined) {
    made = {
      count: database.prepare('SELECT skills FROM word WHERE word = ?'),
      rank: database.prepare('SELECT rowid, rank FROM skill WHERE skill MATCH ?'),
    };
    made.count.setReturnArrays(true);
    made.rank.setReturnArrays(true);
    statements.set(database, made);
  }
  return made;
}
