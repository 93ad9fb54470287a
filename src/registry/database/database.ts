import type { Expression, Kysely, RawBuilder, SqlBool } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Tables } from './tables.ts';

/** The open database of a service. No other process has it open at the same time, unless all of them share it. */
export interface Database extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  /** The same, on a connection of its own for the signs of life of this process: it waits for no other query, and not long for an answer. */
  readonly signs: Kysely<Tables>;
  /** For the few statements that only one of them has. */
  readonly system: 'sqlite' | 'postgres';
  /** Holds for rows of `job_words` in which each of the words begins a word. */
  hasWords(words: readonly string[]): Expression<SqlBool>;
  /** Words as the column `words` stores them. */
  storedWords(words: readonly string[]): RawBuilder<string>;
  /** Runs work that all processes which share the database do at their start, one after the other. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether a query would be answered now. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

/** The database does not answer. The message of its driver may hold parts of a query, so it is only the cause. */
export function unavailable(cause: unknown, why = 'it does not answer'): SkillcellError {
  const code = (cause as { code?: unknown }).code;
  const reason = typeof code === 'string' && /^[A-Z0-9]{1,20}$/.test(code) ? ` (${code})` : '';
  return new SkillcellError('database.unavailable', `Cannot use the database: ${why}${reason}.`, { cause });
}
