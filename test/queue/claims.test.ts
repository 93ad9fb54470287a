import { expect, it } from 'vitest';
import { jobRows } from '../../src/queue/rows/job-rows.ts';
import type { Database } from '../../src/registry/database/database.ts';
import { describeDatabases } from '../fixtures/databases.ts';
import { IS_SAMPLE } from '../fixtures/share.ts';

const AT_ONCE = 8;
const ROUNDS = IS_SAMPLE ? 50 : 1_250;

describeDatabases('claims of jobs', (make) => {
  const fill = async ({ db }: Database, users: readonly number[]): Promise<void> => {
    for (let at = 0; at < users.length; at += 500) {
      const jobs = users.slice(at, at + 500).map((user, index) => ({
        ...{ id: `job-${at + index}`, user_id: user, kind: 'exec', state: 'waiting', attempt: 0, created_at: 1 },
        ...{ request_hash: '', request: '{}' },
      }));
      await db
        .insertInto('jobs')
        .values(jobs as never)
        .execute();
    }
  };

  it('that are made at once take each job once', { timeout: 300_000 }, async () => {
    await using database = await make().open();
    const rows = jobRows(database, { maxWaiting: 1, now: Date.now });
    const count = AT_ONCE * ROUNDS;
    await fill(
      database,
      Array.from({ length: count }, (_, number) => number % 5),
    );
    const claimed: string[] = [];
    const claimAll = async (): Promise<void> => {
      for (let row = await rows.claim(); row !== undefined; row = await rows.claim()) {
        expect([row.state, row.attempt]).toEqual(['running', 1]);
        claimed.push(row.id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, claimAll));
    expect(new Set(claimed).size).toBe(count);
    expect(claimed).toHaveLength(count);
  });

  it('take the user with the fewest running jobs, and of equal users the one whose job waits longest', async () => {
    await using database = await make().open();
    const rows = jobRows(database, { maxWaiting: 1, now: Date.now });
    await fill(database, [7, 7, 7, 7, 3, 3, 9]);
    const order: number[] = [];
    for (let row = await rows.claim(); row !== undefined; row = await rows.claim()) order.push(row.user_id);
    expect(order).toEqual([7, 3, 9, 7, 3, 7, 7]);
  });
});
