import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A word that was searched for. */
export interface AskedWord {
  word: string;
  /** Skills that hold it. */
  skills: number;
  /** What it adds to a score: the rarer, the more. */
  worth: number;
}

/** What an index says. */
export interface IndexAnswer {
  /** The best first; of equal ones the first id. Rows count from 0, a larger score is better. */
  rows: { row: number; score: number }[];
  /** Words that counted, the rarest first. */
  words: AskedWord[];
  /** Skills that hold one of them. */
  found: number;
}

/** Words that count at most, from the rarest on. */
const MOST_WORDS = 64;
/** Skills that are scored for all words together: in a large set the commonest words, which say least, fall out. */
const MOST_SCORES = 10_000;
/** What FTS5 takes for the worth of a word that half of the rows hold, or more. */
const LEAST_WORTH = 1e-6;

/**
 * Asks for words, by the BM25 of FTS5 with another worth of a word: to FTS5, one that half of the skills hold is worth nothing, and in a set
 * of five skills that is a word in three of them.
 *
 * @param skills how many the index holds
 * @param most rows at most
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
    // A text in quotes that holds letters and digits only: it is no operator.
    for (const [row, score] of rank.all(`"${word}"`) as unknown as [number, number][])
      scores.set(row, (scores.get(row) ?? 0) - score * factor);
  }
  const rows = [...scores].map(([row, score]) => ({ row: row - 1, score }));
  rows.sort((a, b) => b.score - a.score || a.row - b.row);
  return { rows: rows.slice(0, most), words: asked, found: rows.length };
}

/** As Lucene has it: never negative, and falling all the way. */
function worthOf(holding: number, skills: number): number {
  return Math.log(1 + (skills - holding + 0.5) / (holding + 0.5));
}

function rarest(words: readonly AskedWord[]): AskedWord[] {
  const asked: AskedWord[] = [];
  let scores = 0;
  // Of equally rare ones the first in the alphabet: an answer does not hang on the order of the words.
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
