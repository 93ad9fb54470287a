import type Docker from 'dockerode';
import { listFleet } from '../../src/sandboxes/fleet/list-fleet.ts';
import { startRedis } from '../fixtures/fleet/redis.ts';
import { startWorkerProcess } from '../fixtures/fleet/worker-process.ts';
import { familyOf, outsideView, ownerOf, stillLiving } from './outside-view.ts';

/** A fleet of one worker, which has the sandboxes of all hosts. */
export interface ChaosFleet extends AsyncDisposable {
  /** Address for hosts. */
  url: string;
  /** The owner of the sandboxes. */
  owner: string;
  /** The sandboxes of all hosts at this moment. */
  running(): Promise<FleetSandboxes>;
  /** Sandboxes, demands and leftovers, which must be gone after the last host. */
  leftovers(): Promise<string[]>;
}

/** Sandboxes at one moment. */
export interface FleetSandboxes {
  /** Those of them that are still there. */
  left(): Promise<string[]>;
}

/** Starts a Redis and a worker. */
export async function startChaosFleet(
  runner: 'local' | 'docker',
  temporary: string,
  engine: Docker | undefined,
): Promise<ChaosFleet> {
  const redis = await startRedis();
  const worker = await startWorkerProcess(await redis.workerUrl('one'), 'one', { runner, slots: 24, temporary });
  const owner = ownerOf(worker.pid) ?? '';
  const view = outsideView(temporary, engine);
  return {
    url: redis.url,
    owner,
    async running() {
      const containers = new Set(await view.runningContainers(owner));
      const processes = familyOf(worker.pid);
      return {
        left: async () => [
          ...stillLiving(processes),
          ...(await view.runningContainers(owner)).filter((container) => containers.has(container)),
        ],
      };
    },
    async leftovers() {
      const { workers, queues } = await listFleet({ url: redis.url });
      return [
        ...(await view.leftovers(owner)),
        ...stillLiving(familyOf(worker.pid)),
        ...workers.filter(({ running }) => running > 0).map(({ running }) => `${running} sandboxes by its own word`),
        ...queues.filter(({ waiting }) => waiting > 0).map(({ waiting }) => `${waiting} demands`),
      ];
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}
