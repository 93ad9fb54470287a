import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineFleet } from '../../../src/cli/doctor/examine-fleet.ts';
import {
  type AclRule,
  CLIENT_USER,
  clientRights,
  workerRights,
  workerUser,
} from '../../../src/sandboxes/fleet/fleet-acl.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { enrolWorker } from '../../fixtures/fleet/enrol-worker.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { writeFleetFile } from '../../fixtures/fleet/worker-command.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { runMain } from '../../fixtures/run-main.ts';

const without = (rights: readonly AclRule[], command: string): AclRule[] =>
  rights.map(({ commands, keys }) => ({ commands: commands.filter((each) => each !== command), keys }));

describeWith('examineFleet()', MISSING_REDIS, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => await redis[Symbol.asyncDispose]());

  const examine = async (url: string = redis.url): Promise<string[]> => {
    const checks = await examineFleet({ url, plain: false }, new AbortController().signal);
    return checks.map(({ id, ok, needed, found }) => `${ok ? 'ok' : needed ? 'MISSING' : 'note'} ${id}: ${found}`);
  };
  const asAdmin = async (use: (admin: ReturnType<RedisServer['admin']>) => Promise<unknown>): Promise<void> => {
    const admin = redis.admin();
    await use(admin).finally(() => admin.disconnect());
  };

  test('needs a worker', async () => {
    const fleet = expect.stringMatching(/^ok fleet: Redis \d\S+ at 127\.0\.0\.1:\d+ · no TLS$/) as string;
    const memory = expect.stringMatching(/^ok fleet memory: \S+ used, at most 1\.00G · noeviction$/) as string;
    const rights = 'ok fleet rights: those of `fleet acl --client`';
    expect(await examine()).toEqual([fleet, memory, rights, 'MISSING fleet workers: no worker is in the fleet']);
    await enrolWorker(redis, 'a');
    const workers = 'ok fleet workers: 1 · 1 of 4 slots taken · 0 demands wait';
    expect(await examine()).toEqual([fleet, memory, rights, workers]);
  });

  test('names settings that lose bytes of sandboxes, or keep them', async () => {
    await asAdmin((admin) => admin.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    expect((await examine())[1]).toMatch(/^MISSING fleet memory: .* allkeys-lru$/);
    await asAdmin((admin) => admin.config('SET', 'maxmemory-policy', 'noeviction', 'appendonly', 'yes'));
    expect((await examine())[1]).toMatch(/^note fleet memory: .* noeviction · appendonly$/);
    await asAdmin((admin) => admin.config('SET', 'appendonly', 'no'));
  });

  test.each([
    ['@stream', 'XADD'],
    ['@set', 'SMEMBERS'],
    ['eval', 'EVAL'],
    ['exists', 'EXISTS'],
    ['pexpire', 'PEXPIRE'],
    ['pttl', 'PTTL'],
  ])('names what a client may not without %s', async (right, command) => {
    await redis.allow(CLIENT_USER, without(clientRights(), right));
    const found = await examine();
    await redis.allow(CLIENT_USER, clientRights());
    expect(found.join('\n')).toMatch(new RegExp(`MISSING fleet rights: the user may not ${command}`));
  });

  test('tells a user with all rights', async () => {
    await redis.allow(CLIENT_USER, [{ commands: ['@all'], keys: ['~*'] }]);
    const found = await examine();
    await redis.allow(CLIENT_USER, clientRights());
    expect(found[2]).toBe('note fleet rights: the user may do more than it needs');
  });

  test('looks at the rights of a worker', async () => {
    const url = await redis.workerUrl('a');
    expect((await examine(url)).slice(2)).toEqual(['ok fleet rights: those of `fleet acl --worker a`']);
    await redis.allow(workerUser('a'), without(workerRights('a', ['default']), 'xtrim'));
    expect((await examine(url)).slice(2)).toEqual(['MISSING fleet rights: the user may not XTRIM']);
  });

  test('a doctor whose fleet is not reached ends with 1', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-doctor-'));
    const gone = `redis://fleet-client:secret@127.0.0.1:${await freePort()}`;
    const { code, stdout } = await runMain(['doctor', '--fleet-file', writeFleetFile(folder, gone)]);
    rmSync(folder, { recursive: true });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^MISSING fleet: .*ECONNREFUSED/m);
    expect(stdout).toContain('The fleet cannot be used.');
    expect(stdout).not.toContain('secret');
  });
});
