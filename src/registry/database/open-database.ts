import type { Database } from './database.ts';

/** Where the database of a service is. */
export interface DatabasePlace {
  /** The state folder, which exists. SQLite lies in it. */
  folder: string;
  /** Address of a PostgreSQL database. Without it, SQLite is used. */
  url?: string | undefined;
  /** Whether other processes that say so too may have it open. For PostgreSQL. @default false */
  isShared?: boolean | undefined;
}

/**
 * Opens the database of a service, and brings its tables to the present form.
 *
 * @throws SkillcellError `database.unavailable`, `database.in-use`, `database.newer`
 */
export async function openDatabase({ folder, url, isShared = false }: DatabasePlace): Promise<Database> {
  if (url === undefined) return await (await import('./open-sqlite.ts')).openSqlite(folder);
  return await (await import('./open-postgres.ts')).openPostgres(url, { isShared });
}
