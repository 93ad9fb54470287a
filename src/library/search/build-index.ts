import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { Skill } from '../../contracts/skills/skill.ts';
import { loadSqlite } from './load-sqlite.ts';
import { FIELD_WEIGHTS, SEARCHED_FIELDS, searchedTexts } from './searched-fields.ts';
import { wordsOf } from './search-words.ts';

/** Every character except blanks is part of a word: `wordsOf` has already split the text. */
const TOKENIZER = "unicode61 remove_diacritics 0 categories ''L* M* N* P* S* C*''";
/** Time of one turn before the build yields to other work. */
const TURN_MS = 15;

/**
 * Builds an index in memory: the words of each skill by field, without the texts, and the number of skills for each word.
 *
 * @param skills in the order of their rows
 * @throws SkillcellError `search.unavailable`, and the signal's reason
 */
export async function buildIndex(skills: readonly Skill[], signal?: AbortSignal): Promise<DatabaseSync> {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(':memory:');
  try {
    const columns = SEARCHED_FIELDS.join(', ');
    database.exec(`CREATE VIRTUAL TABLE skill USING fts5(${columns}, content='', tokenize='${TOKENIZER}')`);
    const weights = SEARCHED_FIELDS.map((field) => FIELD_WEIGHTS[field]).join(', ');
    database.exec(`INSERT INTO skill(skill, rank) VALUES ('rank', 'bm25(${weights})')`);
    const values = SEARCHED_FIELDS.map(() => '?').join(', ');
    const insert = database.prepare(`INSERT INTO skill(rowid, ${columns}) VALUES (?, ${values})`);
    database.exec('BEGIN');
    let turn = performance.now();
    for (const [index, skill] of skills.entries()) {
      const texts = searchedTexts(skill);
      insert.run(index + 1, ...SEARCHED_FIELDS.map((field) => indexed(texts[field])));
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      signal?.throwIfAborted();
      turn = performance.now();
    }
    database.exec(`COMMIT;
      INSERT INTO skill(skill) VALUES ('optimize');
      CREATE VIRTUAL TABLE vocabulary USING fts5vocab(skill, row);
      CREATE TABLE word(word TEXT PRIMARY KEY, skills INTEGER NOT NULL) WITHOUT ROWID;
      INSERT INTO word SELECT term, doc FROM vocabulary;
      DROP TABLE vocabulary`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function indexed(text: string): string {
  let words = '';
  for (const { word } of wordsOf(text)) words += `${word} `;
  return words;
}
