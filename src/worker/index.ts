/** Sandboxes on many hosts: `skillcell/fleet`. */
export {
  listFleet,
  type ListedFleet,
  type ListedQueue,
  type ListedWorker,
  type ListFleetOptions,
} from '../sandboxes/fleet/list-fleet.ts';
export { createFleetRunner, type FleetRunnerOptions } from '../sandboxes/fleet/fleet-runner.ts';
export { createFleetWorker, type FleetWorker, type FleetWorkerOptions } from './fleet-worker.ts';
