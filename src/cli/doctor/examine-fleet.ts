import type { Redis } from 'ioredis';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { workerOfUser } from '../../sandboxes/fleet/fleet-acl.ts';
import { isRefusal } from '../../sandboxes/fleet/fleet-error.ts';
import {
  drainKey,
  fromWorkerKey,
  KEY_PREFIX,
  toWorkerKey,
  workerKey,
  WORKERS_KEY,
} from '../../sandboxes/fleet/fleet-keys.ts';
import { readFleet } from '../../sandboxes/fleet/list-fleet.ts';
import { withFleet } from '../../sandboxes/fleet/with-fleet.ts';
import type { FleetPlace } from '../options/flags/fleet-flags.ts';
import type { MachineCheck } from './machine-check.ts';

/** A name that no worker has, for commands that change nothing. */
const NOBODY = '-';

/**
 * Looks at the Redis of a fleet: version, settings of its memory, the rights of the user, and the workers. A fleet that is named has to work, so each of
 * these is needed.
 */
export async function examineFleet(place: FleetPlace, signal: AbortSignal): Promise<MachineCheck[]> {
  const { host, protocol } = new URL(place.url);
  const worker = workerOfPlace(place);
  try {
    return await withFleet({ ...place, action: 'examine the fleet', signal }, async (redis) => {
      const info = readInfo(await redis.info());
      const way = protocol === 'rediss:' ? 'TLS' : 'no TLS';
      const found = `Redis ${info.get('redis_version')} at ${host} · ${way}`;
      const rights = await rightsCheck(redis, worker);
      const checks = [{ id: 'fleet', ok: true, needed: true, found }, memoryCheck(info), rights];
      const maySeeWorkers = worker === undefined && (rights.ok || !rights.needed);
      return maySeeWorkers ? [...checks, await workersCheck(redis)] : checks;
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!SkillcellError.isInstance(error)) throw error;
    return [{ id: 'fleet', ok: false, needed: true, found: error.message, advice: error.hint }];
  }
}

/** The worker whose user the address names; undefined for a client. */
export function workerOfPlace({ url }: FleetPlace): string | undefined {
  return workerOfUser(decodeURIComponent(new URL(url).username));
}

/** Fields of the answer to INFO. */
function readInfo(text: string): Map<string, string> {
  return new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));
}

function memoryCheck(info: ReadonlyMap<string, string>): MachineCheck {
  const policy = info.get('maxmemory_policy') ?? 'unknown policy';
  const limit = info.get('maxmemory') === '0' ? 'no limit' : `at most ${info.get('maxmemory_human')}`;
  const isLogged = info.get('aof_enabled') === '1';
  const found = `${info.get('used_memory_human')} used, ${limit} · ${policy}${isLogged ? ' · appendonly' : ''}`;
  const faults = [
    ...(policy === 'noeviction' ? [] : ['Set maxmemory-policy to noeviction: Redis would drop bytes of sandboxes.']),
    ...(isLogged ? ['Set appendonly to no: bytes of jobs reach the disk.'] : []),
  ];
  const check = { id: 'fleet memory', ok: faults.length === 0, needed: policy !== 'noeviction', found };
  return faults.length === 0 ? check : { ...check, advice: faults.join(' ') };
}

async function rightsCheck(redis: Redis, worker: string | undefined): Promise<MachineCheck> {
  const own = worker === undefined ? '--client' : `--worker ${worker}`;
  const advice = `Set the rights by the line of \`skillcell fleet acl ${own}\`.`;
  const missing: string[] = [];
  for (const [command = '', ...words] of worker === undefined ? clientCommands() : workerCommands(worker)) {
    if (!(await mayCall(redis, command, words))) missing.push(command);
  }
  if (missing.length > 0) {
    const found = `the user may not ${[...new Set(missing)].join(', ')}`;
    return { id: 'fleet rights', ok: false, needed: true, found, advice };
  }
  if (await mayCall(redis, 'DBSIZE', []))
    return { id: 'fleet rights', ok: false, needed: false, found: 'the user may do more than it needs', advice };
  return { id: 'fleet rights', ok: true, needed: true, found: `those of \`fleet acl ${own}\`` };
}

/** One command for each rule of {@link clientRights}, on keys that do not exist. */
function clientCommands(): string[][] {
  const stream = toWorkerKey(NOBODY);
  return [
    ['SMEMBERS', WORKERS_KEY],
    ['EVAL', 'return 1', '0'],
    ['EXISTS', `${KEY_PREFIX}:${NOBODY}:meta`],
    ['XADD', stream, 'NOMKSTREAM', '*', 'e', ''],
    ['PEXPIRE', stream, '1'],
    ['PTTL', workerKey(NOBODY)],
  ];
}

/** One command for each rule of {@link workerRights}, on keys that do not exist. */
function workerCommands(worker: string): string[][] {
  const stream = fromWorkerKey(worker, NOBODY);
  return [
    ['EVAL', 'return 1', '0'],
    ['XTRIM', toWorkerKey(worker), 'MAXLEN', '1000000000'],
    ['XADD', stream, 'NOMKSTREAM', '*', 'e', ''],
    ['PEXPIRE', stream, '1'],
    ['GET', workerKey(worker)],
    ['GET', drainKey(worker)],
  ];
}

async function mayCall(redis: Redis, command: string, words: readonly string[]): Promise<boolean> {
  try {
    await redis.call(command, ...words);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

async function workersCheck(redis: Redis): Promise<MachineCheck> {
  const { workers, queues } = await readFleet(redis);
  const slots = workers.reduce((sum, each) => sum + each.slots, 0);
  const running = workers.reduce((sum, each) => sum + each.running, 0);
  const waiting = queues.reduce((sum, each) => sum + each.waiting, 0);
  if (workers.length === 0)
    return {
      ...{ id: 'fleet workers', ok: false, needed: true, found: 'no worker is in the fleet' },
      advice: 'Start `skillcell worker` on a host.',
    };
  const found = `${workers.length} · ${running} of ${slots} slots taken · ${waiting} demands wait`;
  return { id: 'fleet workers', ok: true, needed: true, found };
}
