import type * as Sqlite from 'node:sqlite';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

let loaded: typeof Sqlite | undefined;

/**
 * Loads Node's SQLite at the first search.
 *
 * @throws SkillcellError `search.unavailable` where this Node has no SQLite, or no FTS5 in it
 */
export function loadSqlite(): typeof Sqlite {
  if (loaded !== undefined) return loaded;
  const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined);
  if (sqlite === undefined) throw unavailable('this Node has no node:sqlite');
  const database = new sqlite.DatabaseSync(':memory:');
  try {
    database.exec('CREATE VIRTUAL TABLE probe USING fts5(text)');
  } catch (cause) {
    throw unavailable('its node:sqlite has no FTS5', cause);
  } finally {
    database.close();
  }
  loaded = sqlite;
  return sqlite;
}

function unavailable(reason: string, cause?: unknown): SkillcellError {
  const message = `Cannot search: ${reason}, got Node ${process.versions.node}.`;
  return new SkillcellError('search.unavailable', message, { cause });
}

/** Earlier versions of Node 24 warn that the module is experimental. Users of this package cannot act on that, so the warning is suppressed. */
function withoutWarning<Result>(load: () => Result): Result {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).includes('SQLite')) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
