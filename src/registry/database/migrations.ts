import type { Kysely, RawBuilder } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Tables } from './tables.ts';

/** The parts of table definitions in which the databases differ. */
export interface Definitions {
  /** Type and options of a primary key that the database numbers. A number is never used again. */
  serial: RawBuilder<unknown>;
  /** Type of a time in milliseconds. */
  time: 'integer' | 'bigint';
  bytes: 'blob' | 'bytea';
  /** Creates the table `job_words`. */
  words(db: Kysely<Tables>): Promise<void>;
}

/**
 * Brings the tables to the present form. A form never goes back.
 *
 * @throws SkillcellError `database.newer` if a later version of the package has changed them
 */
export async function migrate(db: Kysely<Tables>, definitions: Definitions): Promise<void> {
  const migrations = migrationsFor(definitions);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const known = Object.keys(migrations);
  const unknown = (await executedNames(db)).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new SkillcellError(
      'database.newer',
      `Cannot open the database: this version does not know its change ${JSON.stringify(unknown[0])}.`,
    );
  }
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error as Error;
}

async function executedNames(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === 'kysely_migration')) return [];
  const rows = await (db as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute();
  return rows.map(({ name }) => name);
}

function migrationsFor(definitions: Definitions): Record<string, Migration> {
  return {
    '0001-first': { up: (db: Kysely<Tables>) => createTables(db, definitions) },
    '0002-restarts': { up: addRestarts },
    '0003-replicas': { up: (db: Kysely<Tables>) => addReplicas(db, definitions) },
  };
}

async function addRestarts({ schema }: Kysely<Tables>): Promise<void> {
  for (const name of ['changed_by', 'cancel_reason']) await schema.alterTable('jobs').addColumn(name, 'text').execute();
}

async function addReplicas({ schema }: Kysely<Tables>, { time }: Definitions): Promise<void> {
  await schema
    .createTable('replicas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('seen_at', time, (column) => column.notNull())
    .execute();
  await schema.alterTable('jobs').addColumn('owner', 'text').execute();
}

async function createTables(db: Kysely<Tables>, { serial, time, bytes, words }: Definitions): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('users')
    .addColumn('id', serial as never)
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('disabled', 'integer', (column) => column.notNull())
    .addColumn('created_at', time, (column) => column.notNull())
    .execute();
  await schema
    .createTable('tokens')
    .addColumn('id', serial as never)
    .addColumn('user_id', 'integer', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('read_only', 'integer', (column) => column.notNull())
    .addColumn('parent_id', 'integer', (column) => column.references('tokens.id').onDelete('cascade'))
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('expires_at', time)
    .execute();
  await schema.createIndex('tokens_user').on('tokens').column('user_id').execute();
  await schema
    .createTable('kinds')
    .addColumn('id', serial as never)
    .addColumn('user_id', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('slug', 'text')
    .addColumn('json', 'text', (column) => column.notNull())
    .addColumn('revision', 'integer', (column) => column.notNull())
    .addColumn('read_only', 'integer', (column) => column.notNull())
    .addColumn('file_size', 'integer')
    .addColumn('file_hash', 'text')
    .addColumn('digest', 'text')
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('updated_at', time, (column) => column.notNull())
    .addUniqueConstraint('kinds_name', ['user_id', 'kind', 'namespace', 'name'])
    .addUniqueConstraint('kinds_slug', ['user_id', 'slug'])
    .execute();
  await schema
    .createTable('kind_references')
    .addColumn('from_id', 'integer', (column) => column.notNull().references('kinds.id').onDelete('cascade'))
    .addColumn('to_id', 'integer', (column) => column.notNull().references('kinds.id').onDelete('restrict'))
    .addPrimaryKeyConstraint('kind_references_both', ['from_id', 'to_id'])
    .execute();
  await schema.createIndex('kind_references_to').on('kind_references').column('to_id').execute();
  await schema
    .createTable('skill_binaries')
    .addColumn('id', serial as never)
    .addColumn('kind_id', 'integer', (column) => column.notNull().references('kinds.id').onDelete('cascade'))
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('json', 'text', (column) => column.notNull())
    .addColumn('files', 'text', (column) => column.notNull())
    .addColumn('prompt', 'text', (column) => column.notNull())
    .addColumn('file_size', 'integer', (column) => column.notNull())
    .addColumn('file_hash', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull())
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('binary_data', bytes as never, (column) => column.notNull())
    .addUniqueConstraint('skill_binaries_version', ['kind_id', 'version'])
    .execute();
  await schema
    .createTable('jobs')
    .addColumn('seq', serial as never)
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text')
    .addColumn('error_code', 'text')
    .addColumn('label', 'text')
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('rerun_of', 'text')
    .addColumn('idempotency_key', 'text')
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('started_at', time)
    .addColumn('finished_at', time)
    .addColumn('request', 'text', (column) => column.notNull())
    .addColumn('result', 'text')
    .addUniqueConstraint('jobs_key', ['user_id', 'idempotency_key'])
    .execute();
  await schema.createIndex('jobs_user').on('jobs').columns(['user_id', 'seq']).execute();
  await schema.createIndex('jobs_state').on('jobs').columns(['state', 'user_id', 'seq']).execute();
  await schema.createIndex('jobs_finished').on('jobs').column('finished_at').execute();
  await words(db);
}
