import { describe, expect, it } from 'vitest';
import { ensureRuntime } from '../../src/sandboxes/runtime-bundle.ts';
import { dockerImage, dockerTest } from '../fixtures/docker-image.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { MISSING_REDIS } from '../fixtures/fleet/redis.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { runChaos } from './referee.ts';

/** Half of the hosts leave nothing after a second. The slowest host gets this long, because other tests' processes end at the same time. */
const END_MS = 3_000;

/** A short run of `npm run chaos`. */
describe('F23 hosts that are killed at random points', () => {
  it('of local sandboxes lose no job, double no job, and leave nothing', async (context) => {
    requireLevel(context, 'namespace');
    const report = await runChaos({
      kills: 15,
      seed: 1,
      runner: 'local',
      bundle: await ensureRuntime(),
      engine: undefined,
      endMs: END_MS,
    });
    expect(report.violations).toEqual([]);
    expect(report.medianEndMs).toBeLessThan(1_000);
    expect(report.tally.finished).toBeGreaterThan(10);
    expect(report.tally.hostLost).toBeGreaterThan(10);
  }, 300_000);

  dockerTest('of containers lose no job, double no job, and leave nothing', { timeout: 300_000 }, async () => {
    const { bundle, engine } = await dockerImage();
    const report = await runChaos({ kills: 6, seed: 5, runner: 'docker', bundle, engine, endMs: END_MS });
    expect(report.violations).toEqual([]);
    expect(report.medianEndMs).toBeLessThan(1_000);
    expect(report.tally.finished).toBeGreaterThan(5);
    expect(report.tally.hostLost).toBeGreaterThan(5);
  });

  describeWith('with their sandboxes on the worker of a fleet', MISSING_REDIS, () => {
    it('lose no job, double no job, and leave nothing on the worker', async (context) => {
      requireLevel(context, 'namespace');
      const bundle = await ensureRuntime();
      const report = await runChaos({
        kills: 8,
        seed: 1,
        runner: 'local',
        bundle,
        engine: undefined,
        endMs: END_MS,
        byFleet: true,
      });
      expect(report.violations).toEqual([]);
      expect(report.tally.finished).toBeGreaterThan(5);
      expect(report.tally.hostLost).toBeGreaterThan(5);
    }, 300_000);

    dockerTest('leave no container on the worker', { timeout: 300_000 }, async () => {
      const { bundle, engine } = await dockerImage();
      const given = { kills: 4, seed: 5, endMs: END_MS, bundle, engine } as const;
      const report = await runChaos({ ...given, runner: 'docker', byFleet: true });
      expect(report.violations).toEqual([]);
      expect(report.tally.finished).toBeGreaterThan(3);
      expect(report.tally.hostLost).toBeGreaterThan(3);
    });
  });
});
