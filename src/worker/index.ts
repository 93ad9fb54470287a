/** Sandboxes on many hosts: `skillcell/fleet`. */
export { createFleetRunner, type FleetRunnerOptions } from '../sandboxes/fleet/fleet-runner.ts';
export { createFleetWorker, type FleetWorker, type FleetWorkerOptions } from './fleet-worker.ts';
