import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aclLine, clientRights, workerRights } from '../../../src/sandboxes/fleet/fleet-acl.ts';
import {
  drainKey,
  fromWorkerKey,
  KEY_PREFIX,
  toWorkerKey,
  workerKey,
  WORKERS_KEY,
} from '../../../src/sandboxes/fleet/fleet-keys.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';

const CLIENT = 'c'.repeat(32);
/** Texts of a refusal: of a command, of a call in a script and of `SORT`. */
const REFUSAL = /NOPERM|The user executing the script can't|insufficient ACL permissions/;

describe('fleet acl', () => {
  it('takes all other rights from a user, and leaves its password', () => {
    expect(aclLine('fleet-worker-a', workerRights('a', ['default', 'gpu']))).toMatchInlineSnapshot(
      `"ACL SETUSER fleet-worker-a resetkeys resetchannels clearselectors -@all +ping +info +select +client|setname (+eval +evalsha +@string +@hash +@list +@set +@sortedset +@stream +del +exists ~skillcell:{fleet}:default.* ~skillcell:{fleet}:gpu.*) (+xread +xtrim +del +memory|usage ~skillcell:{fleet}:to:a) (+xadd +pexpire %W~skillcell:{fleet}:from:a:*) (+set +get +del ~skillcell:{fleet}:worker:a ~skillcell:{fleet}:drain:a) (+sadd %W~skillcell:{fleet}:workers)"`,
    );
    expect(aclLine('fleet-client', clientRights())).toMatchInlineSnapshot(
      `"ACL SETUSER fleet-client resetkeys resetchannels clearselectors -@all +ping +info +select (+eval +evalsha +@string +@hash +@list +@set +@sortedset +@stream +del +exists +pexpire +pttl +memory|usage ~skillcell:{fleet}:*)"`,
    );
  });
});

describeWith('fleet acl in Redis', MISSING_REDIS, () => {
  let redis: RedisServer;
  let admin: Redis;
  let worker: Redis;
  let client: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    [admin, client] = [redis.admin(), new Redis(redis.url)];
    worker = new Redis(await redis.workerUrl('evil'));
    await redis.workerUrl('other');
    await admin.set(workerKey('other'), 'a row');
    await admin.call('xadd', toWorkerKey('other'), '*', 'e', 'secret');
    await admin.call('xadd', fromWorkerKey('other', CLIENT), '*', 'e', 'secret');
    await admin.call('xadd', fromWorkerKey('evil', CLIENT), '*', 'e', 'secret');
    await admin.call('lpush', `${KEY_PREFIX}:blue.namespace.00000000:wait`, 'a demand');
    await admin.call('lpush', `${KEY_PREFIX}:default.namespace.00000000:wait`, 'a demand');
  });
  afterAll(async () => {
    for (const each of [admin, worker, client]) each.disconnect();
    await redis[Symbol.asyncDispose]();
  });

  const other = `${KEY_PREFIX}:blue.namespace.00000000:wait`;
  const own = `${KEY_PREFIX}:default.namespace.00000000:wait`;
  const script = (call: string): string[] => ['eval', `return redis.call(${call})`, '0'];
  const whole = [
    ['flushall'],
    ['flushdb'],
    ['keys', '*'],
    ['scan', '0'],
    ['randomkey'],
    ['dbsize'],
    ['config', 'get', '*'],
    ['config', 'set', 'maxmemory', '1'],
    ['monitor'],
    ['subscribe', 'channel'],
    ['psubscribe', '*'],
    ['publish', 'channel', 'text'],
    ['script', 'flush'],
    ['script', 'kill'],
    ['function', 'flush'],
    ['acl', 'list'],
    ['acl', 'setuser', 'evil', 'on'],
    ['client', 'list'],
    ['client', 'kill', 'type', 'normal'],
    ['shutdown', 'nosave'],
    ['replicaof', 'no', 'one'],
    ['swapdb', '0', '1'],
    ['module', 'list'],
    ['slowlog', 'get'],
    ['save'],
    ['get', 'elsewhere'],
    ['set', 'elsewhere', '1'],
    script("'get', 'elsewhere'"),
  ];
  const refused = [
    ...whole,
    // Another worker.
    ['xread', 'streams', toWorkerKey('other'), '0'],
    ['xrange', toWorkerKey('other'), '-', '+'],
    ['xadd', toWorkerKey('other'), '*', 'e', 'x'],
    ['xtrim', toWorkerKey('other'), 'maxlen', '0'],
    ['del', toWorkerKey('other')],
    ['get', workerKey('other')],
    ['set', workerKey('other'), 'x'],
    ['del', workerKey('other')],
    ['get', drainKey('other')],
    ['set', drainKey('other'), '1'],
    ['xread', 'streams', fromWorkerKey('other', CLIENT), '0'],
    ['xadd', fromWorkerKey('other', CLIENT), '*', 'e', 'x'],
    ['del', fromWorkerKey('other', CLIENT)],
    // Clients.
    ['xread', 'streams', fromWorkerKey('evil', CLIENT), '0'],
    ['xrange', fromWorkerKey('evil', CLIENT), '-', '+'],
    ['xtrim', fromWorkerKey('evil', CLIENT), 'maxlen', '0'],
    ['del', fromWorkerKey('evil', CLIENT)],
    ['smembers', WORKERS_KEY],
    ['srem', WORKERS_KEY, 'other'],
    ['del', WORKERS_KEY],
    // Another queue, also by a script, and by keys of its own queue.
    ['lrange', other, '0', '-1'],
    ['lpush', other, 'x'],
    ['del', other],
    ['hgetall', other],
    ['eval', 'return 1', '1', other],
    script(`'lrange', '${other}', 0, -1`),
    script(`'get', '${workerKey('other')}'`),
    script("'keys', '*'"),
    script("'flushall'"),
    ['sort', own, 'by', 'nosort', 'get', workerKey('other')],
    ['rpoplpush', own, other],
    ['rename', own, other],
    ['copy', other, own],
    ['migrate', '127.0.0.1', '1', own, '0', '1'],
  ];

  it.each(refused.map((words) => [words.join(' '), words]))('a worker is refused: %s', async (_line, words) => {
    const [command = '', ...rest] = words;
    await expect(worker.call(command, ...rest)).rejects.toThrow(REFUSAL);
  });

  it.each(whole.map((words) => [words.join(' '), words]))('a client is refused: %s', async (_line, words) => {
    const [command = '', ...rest] = words;
    await expect(client.call(command, ...rest)).rejects.toThrow(REFUSAL);
  });

  it.each([
    ['xread', 'streams', toWorkerKey('evil'), '0'],
    ['xtrim', toWorkerKey('evil'), 'maxlen', '0'],
    ['xadd', fromWorkerKey('evil', CLIENT), '*', 'e', 'x'],
    ['set', workerKey('evil'), 'x'],
    ['get', drainKey('evil')],
    ['sadd', WORKERS_KEY, 'evil'],
    ['lrange', own, '0', '-1'],
    script(`'lrange', '${own}', 0, -1`),
  ])('a worker may %s %s', async (command, ...rest) => {
    await expect(worker.call(command, ...rest)).resolves.toBeDefined();
  });
});
