import { createNodeOnMessageCallback } from 'kysely-generic-sqlite/worker-helper-node';
import { collectGarbage } from '../../protocol/collect-garbage.ts';
import { loadSqlite } from '../../library/search/load-sqlite.ts';

/** Statements that are kept prepared. Kysely writes the same text for the same query. */
const MOST_PREPARED = 200;

const LARGE_BYTES: number = 1024 * 1024;
const isLarge = (value: unknown): boolean => value instanceof Uint8Array && value.length >= LARGE_BYTES;

createNodeOnMessageCallback<{ path: string }>(({ path }) => {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000');
  const prepared = new Map<string, ReturnType<typeof db.prepare>>();
  const statementOf = (text: string): ReturnType<typeof db.prepare> => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = db.prepare(text);
    if (prepared.size === MOST_PREPARED) prepared.clear();
    prepared.set(text, statement);
    return statement;
  };
  return {
    db,
    query(_isSelect, text, parameters = []) {
      // The archive of a skill was copied into this thread.
      if (parameters.some(isLarge)) void collectGarbage();
      const statement = statementOf(text);
      if (statement.columns().length > 0) return { rows: statement.all(...(parameters as string[])) };
      const { changes, lastInsertRowid } = statement.run(...(parameters as string[]));
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    close: () => db.close(),
  };
});
