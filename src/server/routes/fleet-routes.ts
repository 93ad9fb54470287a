import * as z from 'zod';
import { ISOLATION_LEVELS } from '../../contracts/jobs/result.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { drainWorker } from '../../sandboxes/fleet/drain-worker.ts';
import { type ListedFleet, listFleet, type ListFleetOptions } from '../../sandboxes/fleet/list-fleet.ts';
import { problems } from '../schemas/common.ts';
import type { App, RouteParts } from './route-options.ts';

const queueFields = {
  queue: z.string(),
  isolation: z.enum(ISOLATION_LEVELS),
  build: z.string().meta({ description: 'Clients of another build do not use it.' }),
};
const workerSchema = z
  .object({
    name: z.string(),
    ...queueFields,
    slots: z.int().meta({ description: 'Sandboxes that it runs at once.' }),
    running: z.int(),
    draining: z.boolean(),
    beatMs: z.number().meta({ description: 'Milliseconds since its last beat.' }),
  })
  .meta({ id: 'FleetWorker' });
const queueSchema = z
  .object({
    ...queueFields,
    waiting: z.int(),
    oldestMs: z.number().nullable().meta({ description: 'Milliseconds that the oldest demand has waited.' }),
  })
  .meta({ id: 'FleetQueue' });
const fleetSchema = z.object({ workers: z.array(workerSchema), queues: z.array(queueSchema) }).meta({ id: 'Fleet' });

/** The fleet that runs the sandboxes of the service. */
export function addFleetRoutes(app: App, { fleet, ending }: RouteParts): void {
  app.get(
    '/fleet',
    {
      config: { access: 'admin' },
      schema: {
        tags: ['fleet'],
        description: 'The living workers, and the demands that wait for them. 404 if the service has no fleet.',
        response: { 200: fleetSchema, ...problems },
      },
    },
    async (): Promise<ListedFleet> => await listFleet(existing(fleet), { signal: ending }),
  );

  app.post(
    '/fleet/workers/:name/drain',
    {
      config: { access: 'admin' },
      schema: {
        tags: ['fleet'],
        description: 'Lets a worker take no further demand, and waits for its answer. It ends after its sandboxes.',
        params: z.strictObject({ name: z.string().max(100) }),
        response: { 200: z.object({ worker: z.string(), running: z.int() }), ...problems },
      },
    },
    async ({ params: { name: worker } }) => {
      const visit = { ...existing(fleet), signal: ending };
      const running = await drainWorker(visit, worker).catch((error: unknown) => {
        // The address was checked at the start, so the name is wrong: here it is a part of the path.
        if (!SkillcellError.isInstance(error) || error.code !== 'options.invalid') throw error;
        throw new SkillcellError('resource.not-found', error.message, { cause: error });
      });
      return { worker, running };
    },
  );
}

function existing(fleet: ListFleetOptions | undefined): ListFleetOptions {
  if (fleet !== undefined) return fleet;
  throw new SkillcellError('resource.not-found', 'Cannot find the fleet: the service runs its jobs without one.', {
    hint: 'Start it with `skillcell serve --fleet-file FILE`.',
  });
}
