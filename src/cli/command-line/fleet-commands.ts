import type { CommandSpecification, FlagSpecification } from '../options/flags/command.ts';
import { FLEET_ADDRESS_FLAGS, JSON_FLAG } from '../options/flags/flags.ts';

const QUEUE_FLAG: FlagSpecification = {
  name: 'queue',
  value: 'NAME',
  summary: 'the queue whose demands the worker takes (default: default)',
};

/** Commands of a fleet: hosts that run the sandboxes of others. */
export const FLEET_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['worker'],
    summary: 'join a fleet, and run sandboxes for its clients',
    flags: [
      ...FLEET_ADDRESS_FLAGS,
      QUEUE_FLAG,
      {
        name: 'runner',
        value: 'NAME',
        choices: ['auto', 'local', 'docker'],
        summary: 'auto, local or docker (default: auto: docker where engine and image are there, else local)',
      },
      {
        name: 'isolation',
        value: 'LEVEL',
        choices: ['namespace', 'container', 'kernel'],
        summary: 'the level of the sandboxes: namespace, container or kernel (default: the first of the runner)',
      },
      {
        name: 'slots',
        value: 'N',
        summary: 'sandboxes at once (default: twice the processors, as far as the memory allows)',
      },
      { name: 'pool', value: 'N', summary: 'sandboxes for JavaScript that are started ahead (default: 0)' },
      { name: 'max-memory', value: 'MIB', summary: 'the most memory that a sandbox may ask for' },
      { name: 'max-cpus', value: 'N', summary: 'the most processors that a sandbox may ask for' },
      { name: 'name', value: 'NAME', summary: 'the name of the worker (default: that of the machine)' },
      { name: 'drain', value: 'S', summary: 'seconds that running sandboxes may take at the end (default: 300)' },
      { ...JSON_FLAG, summary: 'print one JSON document at the start: { name, queue, isolation, build, slots }' },
    ],
    notes: [
      'A sandbox that a worker ends is started again on another one.',
      'At SIGTERM, and after `skillcell fleet drain NAME`, the worker takes no more; a second signal ends it at once.',
    ],
    load: async () => (await import('../commands/fleet/run-worker.ts')).runWorker,
  },
  {
    path: ['fleet', 'list'],
    summary: 'print the workers of a fleet, and the demands that wait for them',
    flags: [...FLEET_ADDRESS_FLAGS, JSON_FLAG],
    load: async () => (await import('../commands/fleet/run-fleet-list.ts')).runFleetList,
  },
  {
    path: ['fleet', 'drain'],
    summary: 'ask a worker to take no more, and to end when its sandboxes have ended',
    operands: 'NAME',
    minimumOperands: 1,
    maximumOperands: 1,
    flags: [...FLEET_ADDRESS_FLAGS, JSON_FLAG],
    load: async () => (await import('../commands/fleet/run-fleet-drain.ts')).runFleetDrain,
  },
  {
    path: ['fleet', 'acl'],
    summary: 'print the command that limits a user of Redis to a worker, or to the clients',
    flags: [
      { name: 'worker', value: 'NAME', summary: 'the worker whose rights are printed' },
      { ...QUEUE_FLAG, repeatable: true, summary: 'a queue whose demands the worker takes (default: default)' },
      { name: 'client', summary: 'the rights of all clients' },
      JSON_FLAG,
    ],
    notes: ['Repeat the command after an upgrade of skillcell: the password of the user stays.'],
    load: async () => (await import('../commands/fleet/run-fleet-acl.ts')).runFleetAcl,
  },
];
