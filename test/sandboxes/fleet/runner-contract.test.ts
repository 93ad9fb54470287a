import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { createFleetWorker, type FleetWorker } from '../../../src/worker/fleet-worker.ts';
import { describeRunner, type RunnerCase } from '../../conformance/runner.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { dockerImage } from '../../fixtures/docker-image.ts';
import { requireEachLevel } from '../../fixtures/every-level.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { breakContainers, ownContainers } from '../../fixtures/own-containers.ts';
import { descendants, killProcess, sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';
import { shareOf } from '../../fixtures/share.ts';

/** Runners of a worker, and the view of their sandboxes from outside. */
interface WorkerCase extends Pick<RunnerCase, 'breakSandbox' | 'leftovers'> {
  isolation: 'namespace' | 'container';
  runner(): Promise<Runner>;
}

const CASES: WorkerCase[] = [
  {
    isolation: 'namespace',
    runner: async () => createLocalRunner(),
    leftovers: async () => sandboxLeftovers(),
    async breakSandbox() {
      for (const { pid, command } of descendants(process.pid))
        if (/\bentry\.cjs\b|\bbwrap\b/.test(command)) killProcess(pid);
    },
  },
  {
    isolation: 'container',
    runner: async () => createDockerRunner({ bundle: (await dockerImage()).bundle }),
    leftovers: ownContainers,
    breakSandbox: breakContainers,
  },
];

describeWith('a fleet of one worker', MISSING_REDIS, () => {
  describe.each(shareOf(CASES, ({ isolation }) => isolation === BEST_LEVEL))('at level $isolation', (given) => {
    const { isolation, leftovers, breakSandbox } = given;
    let redis: RedisServer;
    let worker: FleetWorker | undefined;
    beforeAll(async () => {
      redis = await startRedis();
      const url = await redis.workerUrl('one');
      try {
        worker = await createFleetWorker({ url, name: 'one', runner: await given.runner(), slots: 16 });
      } catch {
        // The level is missing, so the tests are skipped: the fleet has no worker.
      }
    }, 60_000);
    afterAll(async () => {
      await worker?.close();
      await redis[Symbol.asyncDispose]();
    });
    const create = (): Runner => createFleetRunner({ url: redis.url, levels: [isolation], emptyFleet: 'wait' });

    describeRunner({ name: 'fleet', isolation, create, leftovers, ...(breakSandbox && { breakSandbox }) });

    it('counts what a job uses as its own runner does', async (context) => {
      requireEachLevel(context, isolation);
      const counted = async (runner: Runner): Promise<string[]> => {
        await using orchestrator = createOrchestrator({ runners: [runner] });
        const { usage } = await orchestrator.exec({ code: 'export default 1;', isolation });
        return Object.entries(usage).flatMap(([name, value]) => (value === null ? [] : [name]));
      };
      expect(await counted(create())).toEqual(await counted(await given.runner()));
    });
  });
});
