import { drainKey, fromWorkerKey, KEY_PREFIX, toWorkerKey, workerKey, WORKERS_KEY } from './fleet-keys.ts';

/** Commands that a user of Redis may use, and the keys that these may touch; without keys, commands that touch none. */
export interface AclRule {
  commands: readonly string[];
  /** Patterns with the kind of access: `~` for both, `%R~` for reads, `%W~` for writes. */
  keys: readonly string[];
}

/** Commands without keys. Names of connections are for people; refused ones would fill the log of refusals. */
const CONNECTION: readonly string[] = ['ping', 'info', 'select'];
/** BullMQ keeps its queues by scripts, which have the rights of their user and may use any command of these types of data. */
const OF_QUEUES: readonly string[] = [
  ...['eval', 'evalsha', '@string', '@hash', '@list', '@set', '@sortedset', '@stream'],
  ...['del', 'exists'],
];

/** The rights of a worker: its queues, its own rows and streams, and nothing of clients and other workers. */
export function workerRights(worker: string, queues: readonly string[]): AclRule[] {
  return [
    { commands: [...CONNECTION, 'client|setname'], keys: [] },
    { commands: OF_QUEUES, keys: queues.map((queue) => `~${KEY_PREFIX}:${queue}.*`) },
    { commands: ['xread', 'xtrim', 'del', 'memory|usage'], keys: [`~${toWorkerKey(worker)}`] },
    { commands: ['xadd', 'pexpire'], keys: [`%W~${fromWorkerKey(worker, '*')}`] },
    { commands: ['set', 'get', 'del'], keys: [`~${workerKey(worker)}`, `~${drainKey(worker)}`] },
    { commands: ['sadd'], keys: [`%W~${WORKERS_KEY}`] },
  ];
}

/** The rights of a client. Clients of a fleet trust each other. */
export function clientRights(): AclRule[] {
  return [
    { commands: CONNECTION, keys: [] },
    { commands: [...OF_QUEUES, 'pexpire', 'pttl', 'memory|usage'], keys: [`~${KEY_PREFIX}:*`] },
  ];
}

/**
 * The command of Redis that gives a user these rights, and no others. Password and state of the user stay as they are; a new user has none and is off.
 */
export function aclLine(user: string, rights: readonly AclRule[]): string {
  const rules = rights.map(({ commands, keys }) => {
    const allowed = [...commands.map((command) => `+${command}`), ...keys].join(' ');
    return keys.length === 0 ? allowed : `(${allowed})`;
  });
  return `ACL SETUSER ${user} resetkeys resetchannels clearselectors -@all ${rules.join(' ')}`;
}

const WORKER_USER = 'fleet-worker-';

/** Name of the user of a worker. */
export function workerUser(worker: string): string {
  return `${WORKER_USER}${worker}`;
}

/** The worker of a user; undefined for another user. */
export function workerOfUser(user: string): string | undefined {
  return user.startsWith(WORKER_USER) ? user.slice(WORKER_USER.length) : undefined;
}

/** Name of the user of all clients. */
export const CLIENT_USER = 'fleet-client';
