import type { SeededRandom } from '../chaos/seeded-random.ts';
import { createFleetRunner } from '../../src/sandboxes/fleet/fleet-runner.ts';
import { createFleetWorker } from '../../src/worker/fleet-worker.ts';
import { startRedis } from '../fixtures/fleet/redis.ts';
import { assertNotPolluted } from './fuzz-parts.ts';
import { converse, scriptedPlace, type ScriptedPlace } from './fuzz-sessions.ts';

/** A fleet whose worker has sandboxes that follow scripts. */
export interface ScriptedFleet extends AsyncDisposable {
  place: ScriptedPlace;
}

/** Starts a Redis, and a worker and a client in this process. */
export async function startScriptedFleet(): Promise<ScriptedFleet> {
  const redis = await startRedis();
  const ends = [() => redis[Symbol.asyncDispose]()];
  const place = await scriptedPlace('namespace', async (runner) => {
    const worker = await createFleetWorker({ url: await redis.workerUrl('scripted'), name: 'scripted', runner });
    ends.unshift(() => worker.close());
    return createFleetRunner({ url: redis.url });
  });
  ends.unshift(() => place.orchestrator.close());
  return {
    place,
    async [Symbol.asyncDispose]() {
      for (const end of ends) await end();
    },
  };
}

/** The sessions of {@link converse} on the worker of a fleet: they keep the same promises. */
export async function fuzzFleet(random: SeededRandom, { fleet }: { fleet?: ScriptedFleet | undefined }): Promise<void> {
  if (fleet === undefined) return;
  await converse(random, fleet.place);
  assertNotPolluted();
}
