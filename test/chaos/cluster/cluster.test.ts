import { appendFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS } from '../../fixtures/fleet/redis.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import type { Cluster } from './cluster.ts';
import { MISSING_FAKETIME } from './clock.ts';
import { CLUSTER_FAULTS, HARMLESS_FAULTS } from './cluster-faults.ts';
import { type ClientWord, historyPath, readHistories } from './cluster-history.ts';
import { runCluster } from './cluster-referee.ts';
import { missingNetwork } from './network.ts';

const FAULTS = 12;

/** A short run of `npm run cluster`. */
describeWith(
  'F01 F08 a fleet under faults, each process in a network of its own',
  MISSING_REDIS ?? MISSING_FAKETIME ?? missingNetwork(),
  () => {
    it('gives each accepted job one right end, and leaves nothing; its referee finds what is planted', async (context) => {
      requireLevel(context, 'namespace');
      const expected: RegExp[] = [];
      const plant = async ({ histories, ask }: Cluster): Promise<void> => {
        const lives = readHistories(histories).filter(({ words }) => words.at(-1)?.word === 'done');
        const say = (life: string, word: ClientWord): void =>
          appendFileSync(historyPath(histories, life), `${JSON.stringify({ at: Date.now(), ...word })}\n`);
        const [life] = lives;
        const ids = life?.words.flatMap((word) => (word.word === 'ended' ? [word.id] : [])) ?? [];
        const [twice = '', late = '', failed = ''] = ids;
        if (life === undefined || failed === '') throw new Error('Too few jobs have ended.');
        say(life.name, { word: 'failed', id: twice, code: 'internal.fault', about: 'planted' });
        say(life.name, { word: 'called', id: late, run: 'another', tool: 'write' });
        say(life.name, { word: 'accepted', job: { ...jobOf(life.words, failed), id: 'forgotten' } });
        ask('SET', 'planted', 'x');
        expected.push(
          new RegExp(`^job ${twice} has 2 ends`),
          new RegExp(`^job ${late} had calls of two runs without a restart|^job ${late} has (made|run|succeeded)`),
          /^job forgotten has no end/,
          /^client \S+ has not come to its end/,
          /^Redis has kept planted/,
        );
      };
      const faults = CLUSTER_FAULTS.filter((kind) => !HARMLESS_FAULTS.has(kind));
      const report = await runCluster({ workers: 2, clients: 2, kills: FAULTS, seed: 1, faults, plant });
      expect(report.violations).toEqual([]);
      expect(Object.values(report.faults).reduce((sum, count) => sum + count)).toBe(FAULTS);
      expect(report.tally.succeeded).toBeGreaterThan(5);
      expect(report.tally.restarts).toBeGreaterThan(0);
      for (const pattern of expected) expect(report.planted).toContainEqual(expect.stringMatching(pattern));
    }, 600_000);

    it('loses no attempt when clocks are an hour off, disks are full, workers drain, and another build takes over', async (context) => {
      requireLevel(context, 'namespace');
      const faults = [...HARMLESS_FAULTS];
      const ranAt = new Set<string>();
      const report = await runCluster({
        ...{ workers: 2, clients: 2, kills: faults.length, seed: 1, faults },
        look({ workers, histories }) {
          const words = readHistories(histories).flatMap((life) => life.words);
          for (const { name } of workers)
            if (words.some((word) => word.word === 'started' && word.about === name)) ranAt.add(name);
        },
      });
      expect(report.violations).toEqual([]);
      expect(report.faults).toMatchObject(Object.fromEntries(faults.map((kind) => [kind, 1])));
      expect(report.tally.succeeded).toBe(report.tally.accepted);
      expect(report.tally.restarts).toBe(0);
      // Two of this build, and two of the other one.
      expect([...ranAt].toSorted()).toEqual(['worker-1', 'worker-2', 'worker-3', 'worker-4']);
    }, 600_000);
  },
);

function jobOf(words: readonly ClientWord[], id: string): Extract<ClientWord, { word: 'accepted' }>['job'] {
  const found = words.find((word) => word.word === 'accepted' && word.job.id === id);
  if (found?.word !== 'accepted') throw new Error(`The job ${id} was not accepted.`);
  return found.job;
}
