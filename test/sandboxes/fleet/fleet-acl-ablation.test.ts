import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { drainWorker } from '../../../src/sandboxes/fleet/drain-worker.ts';
import {
  type AclRule,
  CLIENT_USER,
  clientRights,
  workerRights,
  workerUser,
} from '../../../src/sandboxes/fleet/fleet-acl.ts';
import {
  drainKey,
  fromWorkerKey,
  KEY_PREFIX,
  toWorkerKey,
  workerKey,
} from '../../../src/sandboxes/fleet/fleet-keys.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { ENTRY_BYTES, ENTRY_KIND, packEntry } from '../../../src/sandboxes/fleet/link/entry.ts';
import { listFleet } from '../../../src/sandboxes/fleet/list-fleet.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner, RunnerReport } from '../../../src/sandboxes/runner.ts';
import { createFleetWorker, type FleetWorker } from '../../../src/worker/fleet-worker.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, startRedis } from '../../fixtures/fleet/redis.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';

const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');

/** A rule of a line, and the rights that are left without it. */
interface Ablation {
  rule: string;
  rights: AclRule[];
}

function ablations(rights: readonly AclRule[]): Ablation[] {
  return rights.flatMap((rule, at) => {
    const instead = (changed: AclRule): AclRule[] => rights.map((each, index) => (index === at ? changed : each));
    const commands = rule.commands.map((command) => ({
      rule: [`+${command}`, ...rule.keys].join(' '),
      rights: instead({ ...rule, commands: rule.commands.filter((each) => each !== command) }),
    }));
    // A rule without a pattern would be one for commands without keys.
    const keys = rule.keys.map((key) => ({
      rule: key,
      rights: instead({ ...rule, keys: [...rule.keys.filter((each) => each !== key), '~nothing'] }),
    }));
    return [...commands, ...keys];
  });
}

describeWith('without a rule of fleet acl', MISSING, () => {
  it('nothing is left out: all of it works with all rules', async () => {
    expect(await firstFailure(clientRights(), workerRights('one', ['blue']))).toBe('nothing');
  });

  const ofClient = ablations(clientRights());
  it.concurrent.each(ofClient.map(({ rule, rights }) => [rule, rights] as const))(
    'a client needs %s',
    async (_, rights) => {
      expect(await firstFailure(rights, workerRights('one', ['blue']))).not.toBe('nothing');
    },
  );

  const ofWorker = ablations(workerRights('one', ['blue']));
  it.concurrent.each(ofWorker.map(({ rule, rights }) => [rule, rights] as const))(
    'a worker needs %s',
    async (_, rights) => {
      expect(await firstFailure(clientRights(), rights)).not.toBe('nothing');
    },
  );
});

/** Parts of the life of a fleet, in their order. */
type Part = readonly [name: string, act: (signal: AbortSignal) => Promise<void>];

/** Goes through the life of a fleet of one client and one worker, in another database than the first. Returns the first part that fails. */
async function firstFailure(ofClient: readonly AclRule[], ofWorker: readonly AclRule[]): Promise<string> {
  await using redis = await startRedis();
  const urls = { client: `${redis.url}/1`, worker: `${await redis.workerUrl('one', 'blue')}/1` };
  await redis.allow(CLIENT_USER, ofClient);
  await redis.allow(workerUser('one'), ofWorker);
  const admin = redis.admin();
  await admin.select(1);
  const endless = new AbortController();
  const waiting = new AbortController();
  const fleet = createFleetRunner({ url: urls.client, queue: 'blue', emptyFleet: 'wait' });
  const orchestrator = createOrchestrator({ runners: [fleet], concurrency: 4, attempts: 1 });
  const exec = (code: string, signal: AbortSignal): ReturnType<typeof orchestrator.exec> =>
    orchestrator.exec({ language: 'javascript', code, isolation: 'namespace', signal });
  let worker: FleetWorker | undefined;
  let running: Promise<unknown> | undefined;
  let [from, queue] = ['', ''];
  const to = toWorkerKey('one');
  const holds = (what: () => Promise<boolean>): Promise<void> => until(what, 'it', 6_000);
  const flood = async (stream: string, entries: number, bytes: number): Promise<void> => {
    const entry = {
      client: from.split(':').at(-1) ?? '',
      lease: 'f'.repeat(32),
      number: 0,
      bytes: Buffer.alloc(bytes),
    };
    const packed = packEntry({ ...entry, kind: ENTRY_KIND.data });
    const together = admin.multi();
    for (let at = 0; at < entries; at += 1) together.xadd(stream, '*', 'e', packed);
    await together.exec();
  };

  const parts: readonly Part[] = [
    [
      'a worker joins',
      async (signal) => {
        const options = { url: urls.worker, name: 'one', queue: 'blue', runner: quickRunner(), slots: 1 };
        worker = await createFleetWorker({ ...options, isolation: 'namespace' }, { signal });
        queue = `${KEY_PREFIX}:blue.namespace.${worker.build}`;
      },
    ],
    [
      'a job runs',
      async (signal) => {
        const { stdout } = await exec("console.log('x'.repeat(200_000))", signal);
        expect(stdout.text).toHaveLength(200_001);
      },
    ],
    [
      'what was read is gone',
      async () => {
        [from = ''] = await admin.keys(fromWorkerKey('one', '*'));
        await holds(async () => (await admin.xlen(to)) + (await admin.xlen(from)) === 0);
      },
    ],
    [
      'streams expire',
      async () => {
        expect(await admin.pttl(to)).toBeGreaterThan(0);
        expect(await admin.pttl(from)).toBeGreaterThan(0);
      },
    ],
    ['a served demand is gone', () => holds(async () => (await admin.keys(`${queue}:${'?'.repeat(32)}`)).length === 0)],
    [
      'a waiting demand is listed',
      async (signal) => {
        running = exec('setInterval(() => {}, 1_000)', endless.signal).catch((error: Error) => error);
        await holds(async () => (await admin.llen(`${queue}:active`)) === 1);
        exec('1', waiting.signal).catch(() => undefined);
        await holds(async () => (await admin.llen(`${queue}:wait`)) === 1);
        const { workers, queues } = await listFleet({ url: urls.client }, { signal });
        expect(workers).toMatchObject([{ name: 'one', running: expect.any(Number) }]);
        expect(workers[0]?.beatMs).toBeLessThan(10_000);
        expect(queues).toMatchObject([{ queue: 'blue', waiting: 1, oldestMs: expect.any(Number) }]);
      },
    ],
    [
      'a canceled demand is removed',
      async () => {
        waiting.abort();
        await holds(async () => (await admin.llen(`${queue}:wait`)) === 0);
      },
    ],
    [
      'a flooded stream of a worker ends its sandboxes',
      async () => {
        await flood(from, 300, ENTRY_BYTES);
        const ended = await Promise.race([running, pause(6_000)]);
        expect(`${String(ended)} ${JSON.stringify(ended)}`).toContain('its stream was deleted');
        await holds(async () => (await admin.llen(`${queue}:active`)) === 0);
      },
    ],
    [
      'a stream to a worker is deleted with bytes that are no entry',
      async () => {
        await flood(to, 100, 1);
        await holds(async () => (await admin.xlen(to)) === 0);
        await admin.xadd(to, '*', 'e', 'nonsense');
        await holds(async () => (await admin.exists(to)) === 0);
      },
    ],
    [
      'a worker is drained, and leaves',
      async (signal) => {
        worker?.asked.addEventListener('abort', () => void worker?.drain());
        await drainWorker({ url: urls.client, signal }, 'one');
        await worker?.close();
        expect(await admin.exists(workerKey('one'), drainKey('one'))).toBe(0);
      },
    ],
    [
      'nothing was refused',
      async () => {
        const log = (await admin.call('acl', 'log')) as unknown[][];
        expect(log).toEqual([]);
      },
    ],
  ];
  try {
    for (const [part, act] of parts) {
      const isDone = await act(AbortSignal.timeout(12_000)).then(
        () => true,
        () => false,
      );
      if (!isDone) return part;
    }
    return 'nothing';
  } finally {
    endless.abort();
    waiting.abort();
    await Promise.all([orchestrator.close(), worker?.close()]);
    admin.disconnect();
  }
}

/** A local runner that is not probed by a sandbox. */
function quickRunner(): Runner {
  const limits = { memory: 'none', cpus: 'none', pids: 'none', workspace: 'none', inodes: 'none' } as const;
  const probe = async (): Promise<RunnerReport[]> => [
    { runner: 'local', isolation: 'namespace', available: true, reasons: [], limits },
  ];
  return Object.assign(createLocalRunner(), { probe });
}
