import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../fixtures/describe-with.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { MISSING_POSTGRES, startPostgres } from '../../fixtures/postgres.ts';
import { type PlantScene, runServiceChaos, type ServiceChaosReport } from './service-referee.ts';
import { storedRows } from './stored-state.ts';

const KILLS = 4;

interface StoredSkill {
  id: number;
  name: string;
}

function expectSound({ violations, tally, kills }: ServiceChaosReport): void {
  expect(violations).toEqual([]);
  expect(Object.values(kills).reduce((sum, count) => sum + count)).toBe(KILLS);
  expect(tally.accepted).toBeGreaterThan(5);
  expect(tally.finished).toBeGreaterThan(5);
  expect(tally.skills.skills).toBeGreaterThan(0);
}

/** Short runs of `npm run chaos -- --service both`. */
describe('F24 service chaos: a service that is killed at random points under load', () => {
  it('gives each accepted job one end, and leaves nothing, with SQLite', async (context) => {
    requireLevel(context, 'namespace');
    expectSound(await runServiceChaos({ kills: KILLS, seed: 1 }));
  }, 600_000);

  describeWith('with PostgreSQL that is restarted now and then', MISSING_POSTGRES, () => {
    it('gives each accepted job one end, and leaves nothing', async (context) => {
      requireLevel(context, 'namespace');
      await using postgres = await startPostgres();
      const report = await runServiceChaos({ kills: KILLS, seed: 2, postgres });
      expectSound(report);
      expect(report.databaseRestarts).toBeGreaterThan(0);
    }, 600_000);
  });
});

describe('the referee of a service', () => {
  const strays: number[] = [];
  afterAll(() => strays.forEach((pid) => process.kill(pid, 'SIGKILL')));

  it('finds each violation that is planted', async (context) => {
    requireLevel(context, 'namespace');
    const expected: RegExp[] = [];
    const plant = async ({ place, marks, owner, query }: PlantScene): Promise<void> => {
      const { jobs } = await storedRows(place);
      const left = jobs.filter(({ outcome }) => outcome === 'succeeded');
      const next = (): (typeof jobs)[number] => {
        const row = left.pop();
        if (row === undefined) throw new Error('Too few jobs have succeeded.');
        return row;
      };
      const folder = (id: string, name = ''): string => join(place.folder, 'jobs', id, name);

      mkdirSync(folder('planted'));
      expected.push(/^folder planted has no row$/);
      const bare = next();
      rmSync(folder(bare.id), { recursive: true });
      expected.push(new RegExp(`^row ${bare.id} has no folder$`));
      const missing = next();
      await query(`delete from jobs where id = '${missing.id}'`);
      expected.push(new RegExp(`^job ${missing.id} was accepted and has no row$`), /^folder .* has no row$/);
      const forgotten = next();
      await query(`update jobs set state = 'waiting', result = null where id = '${forgotten.id}'`);
      expected.push(new RegExp(`^job ${forgotten.id} has not ended: it is waiting$`));
      const twice = next();
      const log = readFileSync(folder(twice.id, 'events.1.jsonl'), 'utf8').trimEnd().split('\n');
      appendFileSync(folder(twice.id, 'events.1.jsonl'), `${log.at(-1)}\n`);
      expected.push(new RegExp(`^job ${twice.id} has 2 ends in its log$`));
      const other = next();
      await query(`update jobs set outcome = 'failed' where id = '${other.id}'`);
      expected.push(new RegExp(`^job ${other.id} is failed, and its result succeeded$`));
      const label = left.map((row) => String(row.label)).find((name) => existsSync(join(marks, name)));
      appendFileSync(join(marks, String(label)), 'begun\n'.repeat(9));
      expected.push(new RegExp(`^${label} began \\d+ times`));
      const printed = next();
      writeFileSync(folder(printed.id, 'stdout'), 'other');
      expected.push(new RegExp(`^job ${printed.id} has other output in its events than in its file$`));
      const skills = (await query(`select id, name from kinds where kind = 'Skill' and user_id <> 0`)) as StoredSkill[];
      const [renamed, changed, shortened] = skills as [StoredSkill, StoredSkill, StoredSkill];
      await query(`update kinds set name = 'planted' where id = ${renamed.id}`);
      expected.push(new RegExp(`^skill ${renamed.name} was accepted and is missing$`));
      expected.push(/^skill planted was never uploaded$/);
      await query(`update skill_binaries set binary_data = x'00' where kind_id = ${changed.id} and version = 1`);
      expected.push(new RegExp(`^version 1 of skill ${changed.name} has other bytes$`));
      await query(`delete from skill_binaries where kind_id = ${shortened.id} and version = 1`);
      expected.push(new RegExp(`^version 1 of skill ${shortened.name} was accepted and is missing$`));
      writeFileSync(join(place.folder, 'incoming', 'planted'), 'left');
      expected.push(/^the file planted of a form is left over$/);
      const { pid = 0 } = spawn('sleep', ['600'], {
        env: { SKILLCELL_JOB_MARK: `${owner}-planted` },
        stdio: 'ignore',
        detached: true,
      });
      strays.push(pid);
    };
    const { planted, violations } = await runServiceChaos({ kills: 0, seed: 3, plant });
    for (const fault of expected) expect(planted).toContainEqual(expect.stringMatching(fault));
    expect(violations).toEqual([expect.stringMatching(/^a service that has ended has left: process \d+ sleep 600/)]);
  }, 300_000);
});
