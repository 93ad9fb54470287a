import { expect, it } from 'vitest';
import { describeDatabases } from '../fixtures/databases.ts';

describeDatabases('a database of the version before', (make) => {
  it('keeps its jobs, and gets what they need to begin again', async () => {
    const scene = make();
    const before = await scene.open();
    const { schema } = before.db;
    const columns = ['changed_by', 'cancel_reason', 'owner'];
    for (const column of columns) await schema.alterTable('jobs').dropColumn(column).execute();
    await schema.dropTable('replicas').execute();
    await before.db
      .deleteFrom('kysely_migration' as never)
      .where('name' as never, '<>', '0001-first' as never)
      .execute();
    await before.db
      .insertInto('jobs')
      .values({
        ...{ id: 'old', user_id: 1, kind: 'exec', state: 'running', attempt: 1, created_at: 1, request: '{}' },
        ...{ request_hash: '' },
      } as never)
      .execute();
    await before.close();
    await using after = await scene.open();
    const rows = await after.db.selectFrom('jobs').select(['id', 'changed_by', 'cancel_reason', 'owner']).execute();
    expect(rows).toEqual([{ id: 'old', changed_by: null, cancel_reason: null, owner: null }]);
  });
});
