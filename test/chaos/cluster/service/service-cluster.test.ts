import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MISSING_CEPH } from '../../../fixtures/ceph.ts';
import { describeWith } from '../../../fixtures/describe-with.ts';
import { MISSING_REDIS } from '../../../fixtures/fleet/redis.ts';
import { requireLevel } from '../../../fixtures/levels.ts';
import { MISSING_POSTGRES } from '../../../fixtures/postgres.ts';
import { MISSING_FAKETIME } from '../clock.ts';
import type { Cluster, Seat } from '../cluster.ts';
import { runCluster } from '../cluster-referee.ts';
import { missingNetwork } from '../network.ts';
import {
  type JournalCall,
  readJournal,
  readUserHistories,
  type SeenEvent,
  userHistoryPath,
  type UserWord,
} from './replica-history.ts';
import { HARMLESS_SERVICE_FAULTS, SERVICE_FAULTS } from './service-faults.ts';
import type { ClusterService } from './service-seats.ts';

type Followed = Extract<UserWord, { word: 'followed' }>;
type Ended = Extract<UserWord, { word: 'ended' }>;

/** Short runs of `npm run cluster -- --replicas 2`. */
describeWith(
  'F24 the replicas of a service under faults, each in a network of its own',
  MISSING_REDIS ?? MISSING_POSTGRES ?? MISSING_CEPH ?? MISSING_FAKETIME ?? missingNetwork(),
  () => {
    it('give each accepted job one end, alike everywhere; their referee finds what is planted', async (context) => {
      requireLevel(context, 'namespace');
      const expected: RegExp[] = [];
      const faults = SERVICE_FAULTS.filter((kind) => !HARMLESS_SERVICE_FAULTS.has(kind));
      const report = await runCluster({
        ...{ workers: 2, clients: 0, replicas: 2, kills: faults.length, seed: 1, faults },
        plant: async ({ service }: Cluster) => void expected.push(...(await plantIn(service))),
      });
      expect(report.violations).toEqual([expect.stringMatching(/^replica-1 has left a program: .*sleep 600/)]);
      expect(report.faults).toMatchObject(Object.fromEntries(faults.map((kind) => [kind, 1])));
      expect(report.service?.succeeded).toBeGreaterThan(5);
      for (const pattern of expected) expect(report.planted).toContainEqual(expect.stringMatching(pattern));
    }, 900_000);

    it('lose no attempt when links hiccup, clocks are an hour off, servers come back, and another build takes over', async (context) => {
      requireLevel(context, 'namespace');
      const faults = [...HARMLESS_SERVICE_FAULTS, 'upgrade'] as const;
      const report = await runCluster({
        ...{ workers: 2, clients: 1, replicas: 2, kills: faults.length, seed: 2, faults },
      });
      expect(report.violations).toEqual([]);
      expect(report.faults).toMatchObject(Object.fromEntries(faults.map((kind) => [kind, 1])));
      expect(report.service).toMatchObject({ restarts: 0, lost: 0 });
      expect(report.service?.succeeded).toBeGreaterThan(5);
    }, 900_000);
  },
);

/** Plants a violation of each kind, and returns how the referee tells them. */
async function plantIn(service: ClusterService | undefined): Promise<RegExp[]> {
  if (service === undefined) throw new Error('There is no service.');
  const { histories, journal, query } = service;
  const lives = readUserHistories(histories);
  /** Adds to the history of the user of a job. */
  const say = (name: string, word: UserWord): void =>
    appendFileSync(userHistoryPath(histories, name.slice(0, name.lastIndexOf('-'))), `${JSON.stringify(word)}\n`);
  const words = [...lives.values()].flat();
  const ended = words.filter((word): word is Ended => word.word === 'ended' && word.outcome === 'succeeded');
  const rows = await query<{ id: string; label: string; attempt: number }>('select id, label, attempt from jobs');
  const rowOf = (name: string): (typeof rows)[number] | undefined => rows.find(({ label }) => label === name);
  const idOf = (name: string): string => rowOf(name)?.id ?? '';
  const expected: RegExp[] = [];
  const calls = readJournal(journal);
  const call = (line: JournalCall): void => appendFileSync(journal, `${JSON.stringify(line)}\n`);
  const late = calls.find(({ name, tool }) => tool === 'read' && ended.some((end) => end.name === name));
  if (late === undefined) throw new Error('Too few calls were made.');
  const find = (fits: (end: Ended) => boolean): Ended => {
    const [found] = ended.splice(Math.max(0, ended.findIndex(fits)), 1);
    if (found === undefined || !fits(found)) throw new Error('Too few jobs have succeeded.');
    return found;
  };
  /** A job for a violation that hides others of the same job. */
  const take = (): Ended => find(({ name }) => name !== late.name);
  /** A job for any other violation, the least used first. */
  const use = (fits: (end: Ended) => boolean = () => true): Ended => {
    const found = find(fits);
    ended.push(found);
    return found;
  };
  // Rows.
  const missing = take();
  await query(`delete from jobs where id = '${idOf(missing.name)}'`);
  expected.push(
    new RegExp(`^job ${missing.name} was accepted and has no row$`),
    /^the bucket has an object without a row/,
  );
  const open = take();
  const owner = '(select id from replicas limit 1)';
  await query(`update jobs set state = 'running', result = null, owner = ${owner} where id = '${idOf(open.name)}'`);
  expected.push(new RegExp(`^job ${open.name} has not ended: it is running$`));
  const [one, another] = [take(), take()];
  await query(`update jobs set label = '${one.name}' where id = '${idOf(another.name)}'`);
  expected.push(new RegExp(`^job ${one.name} has several rows$`), /^row \S+ has no order/);
  const other = use();
  await query(`update jobs set result = result || ' ' where id = '${idOf(other.name)}'`);
  expected.push(new RegExp(`^job ${other.name} was answered with another end$`));
  // Calls.
  call({ ...late, run: 'another' });
  call(late);
  expected.push(new RegExp(`^job ${late.name} had a call of an older run after one of a later run$`));
  const twice = use();
  call({ name: twice.name, run: 'one', tool: 'write' });
  call({ name: twice.name, run: 'one', tool: 'write' });
  expected.push(new RegExp(`^job ${twice.name} has run its write tool \\d times$`));
  // Objects.
  await service.put(`jobs/${randomUUID()}/1/stdout`);
  await service.put('planted');
  expected.push(/^the bucket has a strange object: planted$/);
  const beyond = use();
  await service.put(`jobs/${idOf(beyond.name)}/9/stdout`);
  expected.push(/^the bucket has an object of no attempt: \S+\/9\/stdout$/);
  // One replica shows something else.
  const printed = use();
  writeFileSync(join(service.stateOf(2), 'jobs', idOf(printed.name), 'stdout'), 'planted');
  expected.push(new RegExp(`^job ${printed.name} has other output at http\\S+ `));
  const told = use(({ name }) => rowOf(name)?.attempt === 1);
  const log = join(service.stateOf(1), 'jobs', idOf(told.name), 'events.1.jsonl');
  writeFileSync(log, readFileSync(log, 'utf8').split('\n').slice(1).join('\n'));
  expected.push(new RegExp(`^job ${told.name} has other events at http`));
  // Events that a user has joined.
  const eventsOf = (end: Ended): SeenEvent[] =>
    words.find((word): word is Followed => word.word === 'followed' && word.name === end.name)?.events ?? [];
  const isLong = (end: Ended): boolean => eventsOf(end).length > 3;
  const [gap, repeated] = [use(isLong), use(isLong)];
  say(gap.name, { word: 'followed', name: gap.name, events: eventsOf(gap).toSpliced(1, 1) });
  expected.push(new RegExp(`^job ${gap.name} lacks events between`));
  const [, second] = eventsOf(repeated) as [SeenEvent, SeenEvent];
  say(repeated.name, { word: 'followed', name: repeated.name, events: eventsOf(repeated).toSpliced(1, 0, second) });
  expected.push(new RegExp(`^job ${repeated.name} has the event \\S+ twice$`));
  // Answers.
  const answered = use();
  say(answered.name, { ...answered, stdout: 'other' });
  expected.push(new RegExp(`^job ${answered.name} was answered with other output`));
  const accepted = use();
  say(accepted.name, { word: 'accepted', name: accepted.name, id: randomUUID() });
  expected.push(new RegExp(`^job ${accepted.name} was answered with 2 ids$`), /^user \S+ has not come to an end$/);
  say(accepted.name, { word: 'fault', about: 'a planted fault' });
  expected.push(/^a planted fault$/);
  const [, replica] = service.replicas as [Seat, Seat];
  appendFileSync(service.logOf(replica), '{"level":50,"msg":"planted"}\n');
  expected.push(/^replica-2 has failed: .*planted/);
  // A program that its replica leaves.
  const [enter, ...where] = service.replicas[0]?.host.run ?? ['false'];
  spawn(enter, [...where, 'sleep', '600'], { stdio: 'ignore', detached: true }).unref();
  return expected;
}
