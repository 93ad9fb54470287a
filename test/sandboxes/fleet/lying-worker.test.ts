import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { FRAME_KIND } from '../../../src/protocol/channel/frame.ts';
import { PROTOCOL_VERSION } from '../../../src/protocol/messages/messages.ts';
import type { Demand } from '../../../src/sandboxes/fleet/demand.ts';
import {
  fromWorkerKey,
  KEY_PREFIX,
  toWorkerKey,
  workerKey,
  WORKERS_KEY,
} from '../../../src/sandboxes/fleet/fleet-keys.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { ENTRY_BYTES, ENTRY_KIND, NO_LEASE, packEntry } from '../../../src/sandboxes/fleet/link/entry.ts';
import { listFleet } from '../../../src/sandboxes/fleet/list-fleet.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { type LyingWorker, startLyingWorker } from '../../fixtures/fleet/lying-worker.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { startWorkerProcess, type WorkerProcess } from '../../fixtures/fleet/worker-process.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { forgetPeak, peakMemory } from '../../fixtures/peak-memory.ts';
import { toolList } from '../../fixtures/tool-list.ts';
import { until } from '../../fixtures/until.ts';

const MIB = 1024 * 1024;
const LEASE_MS = 2_000;
const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
/** A job that tells its worker's test that it runs. */
const WAITS = `import { callTool } from 'skillcell';
console.log('begun');
await callTool('arrive');
console.log('ended');
export default 7;`;

const READY = message({ type: 'ready', protocol: PROTOCOL_VERSION });

describeWith('a worker that lies', MISSING, () => {
  let redis: RedisServer;
  let admin: Redis;
  let honest: WorkerProcess;
  let liar: LyingWorker;
  let orchestrator: Orchestrator;
  let arrived: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    redis = await startRedis();
    admin = redis.admin();
    honest = await startWorkerProcess(await redis.workerUrl('honest'), 'honest', { slots: 8 });
    liar = await startLyingWorker(await redis.workerUrl('liar'), 'liar');
    const arrive = { description: 'Waits.', effect: 'read' as const, execute: async () => await arrived() };
    orchestrator = createOrchestrator({
      runners: [createFleetRunner({ url: redis.url, leaseMs: LEASE_MS, window: 1_000, emptyFleet: 'wait' })],
      tools: toolList([['arrive', arrive]]),
    });
    // The client knows both workers before the first lie.
    expect(await orchestrator.exec({ code: '1' })).toMatchObject({ worker: 'honest' });
  }, 60_000);
  afterAll(async () => {
    await orchestrator.close();
    await liar[Symbol.asyncDispose]();
    await honest[Symbol.asyncDispose]();
    admin.disconnect();
    await redis[Symbol.asyncDispose]();
  }, 60_000);

  /** Runs a job whose first demand the liar takes; others are for the honest worker, if there are further ones. */
  const runWith = async (
    lie: (demand: Demand) => Promise<unknown>,
    job: ExecOptions = { code: WAITS, tools: ['arrive'] },
  ) => {
    honest.kill('SIGSTOP');
    const result = orchestrator.exec(job).catch((error: Error) => error);
    const demand = await liar.take().finally(() => honest.kill('SIGCONT'));
    await lie(demand);
    return await result;
  };
  /** The job ran whole, and once, on the honest worker. */
  const RAN = { outcome: 'succeeded', value: 7, worker: 'honest', stdout: { text: 'begun\nended\n' } };
  /** All entries were taken: nothing of a lie waits for a reader. */
  const nothingIsLeft = async (): Promise<void> => {
    const left = async (): Promise<string[]> => {
      const streams = await admin.keys(`${KEY_PREFIX}:from:*`);
      const lengths = await Promise.all(streams.map(async (stream) => [stream, await admin.xlen(stream)] as const));
      return lengths.filter(([, length]) => length > 0).map(([stream]) => stream);
    };
    await until(async () => (await left()).length === 0, 'all streams to be read', 20_000);
  };

  it('control: a sandbox of the same worker that it says to be ready, and that fails, has the words of its worker', async () => {
    const error = await runWith(async (demand) => {
      await liar.tell(demand, ENTRY_KIND.taken);
      await liar.tell(demand, ENTRY_KIND.refused, { code: 'sandbox.start-failed', message: 'No disk.' }, 1);
    });
    expect(error).toMatchObject({ code: 'sandbox.start-failed', message: 'No disk (worker liar).' });
    await nothingIsLeft();
  }, 60_000);

  it.each<[string, (demand: Demand) => Promise<unknown>]>([
    ['never answers', async () => undefined],
    ['takes a demand and is silent', (demand) => liar.tell(demand, ENTRY_KIND.taken)],
    ['opens a sandbox and is silent', (demand) => liar.open(demand)],
    [
      'says that it does not know its own sandbox',
      async (demand) => {
        await liar.open(demand);
        await liar.tell(demand, ENTRY_KIND.gone);
      },
    ],
    [
      'says that its sandbox is lost',
      async (demand) => {
        await liar.open(demand);
        const end = { cause: 'lost', oom: null, code: null, complaint: '', leaving: false, usage: null };
        await liar.tell(demand, ENTRY_KIND.exit, end, 2);
      },
    ],
    [
      'says a level of no known name',
      async (demand) => {
        await liar.tell(demand, ENTRY_KIND.taken);
        await liar.tell(demand, ENTRY_KIND.opened, { isolation: 'moon', warm: false, diagnostics: [] }, 1);
      },
    ],
    [
      'says another level than its queue has',
      async (demand) => {
        await liar.tell(demand, ENTRY_KIND.taken);
        await liar.tell(demand, ENTRY_KIND.opened, { isolation: 'kernel', warm: false, diagnostics: [] }, 1);
      },
    ],
    [
      'sends a beat of no known form',
      async (demand) => {
        await liar.open(demand);
        await liar.tell({ ...demand, lease: '0'.repeat(32) }, ENTRY_KIND.beat, { all: 'well' });
      },
    ],
    [
      'says that it consumed what was not sent',
      async (demand) => {
        await liar.open(demand);
        await liar.tell(demand, ENTRY_KIND.consumed, numberBytes(2 ** 40));
      },
    ],
    [
      'sends bytes that are no entry',
      async (demand) => {
        await liar.open(demand);
        await liar.redis.xadd(fromWorkerKey('liar', demand.client), '*', 'e', 'nonsense');
      },
    ],
  ])(
    'its job runs elsewhere: it %s',
    async (_lie, lie) => {
      expect(await runWith(lie)).toMatchObject(RAN);
      await nothingIsLeft();
    },
    60_000,
  );

  it('a job whose every worker lies fails, and names the worker and the lie', async () => {
    honest.kill('SIGSTOP');
    const lie = async (): Promise<void> => {
      const demand = await liar.take();
      await liar.open(demand);
      await liar.tell(demand, ENTRY_KIND.gone);
    };
    const result = orchestrator.exec({ code: '1' }).catch((error: Error) => error);
    for (let attempt = 1; attempt <= 3; attempt += 1) await lie();
    honest.kill('SIGCONT');
    expect(await result).toMatchObject({
      code: 'sandbox.lost',
      message: 'Cannot go on with the sandbox: worker liar: it does not know the sandbox.',
    });
  }, 60_000);

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.alloc(300, 0xee)],
    ['a frame longer than any', frame(2 ** 31, FRAME_KIND.message)],
    ['a ready message of another version', message({ type: 'ready', protocol: 10_000 })],
  ])(
    'the job of a forged sandbox runs elsewhere if it is not ready in the end: it sends %s',
    async (_lie, bytes) => {
      const over = new AbortController();
      const lie = async (demand: Demand): Promise<void> => {
        await liar.open(demand);
        if (bytes.length > 0) await liar.tell(demand, ENTRY_KIND.data, bytes, 2);
        liar.beat(demand, over.signal);
      };
      try {
        expect(await runWith(lie)).toMatchObject(RAN);
      } finally {
        over.abort();
      }
      await nothingIsLeft();
    },
    120_000,
  );

  it.each<[string, Buffer, object]>([
    [
      'a run before its job',
      Buffer.concat([READY, message({ type: 'run', run: 1, stdout: 1, stderr: 1 })]),
      { outcome: 'timeout' },
    ],
    [
      'bytes of a stream that is not there',
      Buffer.concat([READY, frame(4, FRAME_KIND.data, 7), Buffer.alloc(4)]),
      { code: 'channel.protocol' },
    ],
    ['ready twice, and nothing more', Buffer.concat([READY, READY]), { outcome: 'timeout' }],
  ])(
    'a forged sandbox has a clear end: it sends %s',
    async (_lie, bytes, end) => {
      const over = new AbortController();
      const lie = async (demand: Demand): Promise<void> => {
        await liar.open(demand);
        await liar.tell(demand, ENTRY_KIND.data, bytes, 2);
        liar.beat(demand, over.signal);
      };
      const ended = runWith(lie, { code: '1', limits: { jobTimeoutMs: 4_000, graceMs: 100 } });
      try {
        expect(await ended).toMatchObject(end);
      } finally {
        over.abort();
      }
      await nothingIsLeft();
    },
    60_000,
  );

  it('numbers out of order and far ahead reach no one, and are answered now and then', async () => {
    const before = forgetPeak(process.pid);
    const demands: Demand[] = [];
    const result = await runWith(async (demand) => {
      demands.push(demand);
      await liar.open(demand);
      const bytes = Buffer.alloc(ENTRY_BYTES, 'x');
      for (let round = 0; round < 1_000; round += 1)
        await Promise.all(
          [2 ** 47, 2 ** 40 - round, 2_000 - round, 4].map((number) =>
            liar.tell(demand, ENTRY_KIND.data, bytes, number),
          ),
        );
    });
    expect(result).toMatchObject(RAN);
    expect(peakMemory(process.pid) - before).toBeLessThan(200 * MIB);
    expect(await admin.xlen(toWorkerKey('liar'))).toBeLessThan(2_000);
    await nothingIsLeft();
  }, 60_000);

  it('nothing reaches the sandbox of another worker, whatever is said of its lease', async () => {
    const active = async (): Promise<string[]> => await liar.redis.lrange(`${KEY_PREFIX}:${liar.queue}:active`, 0, -1);
    // Demands that were taken by lies stay there until the engine sees that no one serves them.
    const old = new Set(await active());
    let own: Demand | undefined;
    arrived = async () => {
      // A worker may read the queue, so it learns of all leases in it.
      const [lease = ''] = (await active()).filter((id) => !old.has(id));
      own = JSON.parse((await liar.redis.hget(`${KEY_PREFIX}:${liar.queue}:${lease}`, 'data')) ?? '') as Demand;
      const end = { cause: 'exit', oom: null, code: 0, complaint: 'forged', leaving: true, usage: null };
      for (const number of [0, 1, 2, 3, 4, 5]) {
        await liar.tell(own, ENTRY_KIND.taken, undefined, number);
        await liar.tell(own, ENTRY_KIND.data, message({ type: 'result', result: {} }), number);
        await liar.tell(own, ENTRY_KIND.exit, end, number);
      }
      await liar.tell(own, ENTRY_KIND.refused, { code: 'runtime.missing', message: 'Forged.' });
      await liar.tell(own, ENTRY_KIND.end);
      await liar.tell(own, ENTRY_KIND.consumed, numberBytes(2 ** 40));
      await liar.tell(own, ENTRY_KIND.kill, Buffer.from('forged'));
      await liar.tell({ ...own, lease: NO_LEASE }, ENTRY_KIND.beat, [[own.lease, 2 ** 40, 2 ** 40, 2 ** 40]]);
      await liar.tell(own, ENTRY_KIND.gone);
      await nothingIsLeft();
    };
    const result = await orchestrator
      .exec({ code: WAITS, tools: ['arrive'] })
      .finally(() => (arrived = async () => undefined));
    expect(result).toMatchObject({ ...RAN, attempt: 1 });
    expect(own?.lease).toMatch(/^[0-9a-f]{32}$/);
  }, 60_000);

  it('answers to leases that no one knows are few', async () => {
    arrived = async () => {
      const [stream = ''] = await admin.keys(fromWorkerKey('liar', '*'));
      const client = stream.split(':').at(-1) ?? '';
      await admin.del(toWorkerKey('liar'));
      for (let round = 0; round < 200; round += 1)
        await Promise.all(
          Array.from({ length: 250 }, () =>
            liar.tell({ client, lease: 'f'.repeat(32) }, ENTRY_KIND.data, undefined, round),
          ),
        );
      await nothingIsLeft();
    };
    const result = await orchestrator
      .exec({ code: WAITS, tools: ['arrive'] })
      .finally(() => (arrived = async () => undefined));
    expect(result).toMatchObject({ ...RAN, attempt: 1 });
    const answers = await admin.xlen(toWorkerKey('liar'));
    expect(answers).toBeGreaterThan(0);
    expect(answers).toBeLessThan(10_000);
  }, 60_000);

  it('a flood ends its own sandboxes, and does not add up in its client or in Redis', async () => {
    const over = new AbortController();
    const used = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
    const atFirst = await used();
    let most = 0;
    const before = forgetPeak(process.pid);
    let flooded = 0;
    const flood = async ({ client, lease }: Demand): Promise<void> => {
      const packed = packEntry({
        client,
        lease,
        kind: ENTRY_KIND.data,
        number: 3,
        bytes: Buffer.alloc(ENTRY_BYTES, 'x'),
      });
      const stream = fromWorkerKey('liar', client);
      for (; !over.signal.aborted; flooded += 192 * ENTRY_BYTES) {
        await Promise.all(Array.from({ length: 192 }, () => liar.redis.xadd(stream, '*', 'e', packed)));
        most = Math.max(most, await used());
        // The liar must not keep its own client from reading: they share a process here.
        await pause(50);
      }
    };
    let flooding: Promise<void> | undefined;
    // The honest job stays until there was enough of the flood.
    arrived = () => until(() => flooded > 768 * MIB, 'a flood', 60_000);
    const result = await runWith(async (demand) => {
      await liar.open(demand);
      flooding = flood(demand);
    });
    over.abort();
    arrived = async () => undefined;
    await flooding;
    expect(result).toMatchObject(RAN);
    expect(peakMemory(process.pid) - before).toBeLessThan(200 * MIB);
    // The client reads nothing between two leases, and whenever it reads, it deletes all: the flood does not add up.
    expect(most - atFirst).toBeLessThan(384 * MIB);
    // The client reads on while it has a job.
    arrived = nothingIsLeft;
    expect(await orchestrator.exec({ code: WAITS, tools: ['arrive'] })).toMatchObject({ ...RAN, attempt: 1 });
    arrived = async () => undefined;
    expect((await used()) - atFirst).toBeLessThan(8 * MIB);
  }, 120_000);

  it('its row is its own: it cannot write the row of another, or be another', async () => {
    const forged = JSON.stringify({ ...liar.row, name: 'honest', slots: 0 });
    await expect(liar.redis.set(workerKey('honest'), forged)).rejects.toThrow('NOPERM');
    await expect(liar.redis.del(workerKey('honest'))).rejects.toThrow('NOPERM');
    await expect(liar.redis.xadd(fromWorkerKey('honest', 'f'.repeat(32)), '*', 'e', 'x')).rejects.toThrow('NOPERM');
    await expect(liar.redis.xadd(toWorkerKey('honest'), '*', 'e', 'x')).rejects.toThrow('NOPERM');
    await liar.redis.set(workerKey('liar'), forged);
    const names = async (): Promise<string[]> => (await listFleet({ url: redis.url })).workers.map(({ name }) => name);
    expect(await names()).toEqual(['honest']);
    await liar.announce();
    expect(await names()).toEqual(['honest', 'liar']);
  }, 60_000);

  it('names and rows that are long or many do not keep clients from the workers', async () => {
    const before = forgetPeak(process.pid);
    const name = Buffer.alloc(MIB / 2, 'x').toString();
    for (let at = 0; at < 200; at += 1) await liar.redis.sadd(WORKERS_KEY, `${name}${at}`);
    for (let from = 0; from < 200_000; from += 1_000)
      await liar.redis.sadd(WORKERS_KEY, ...Array.from({ length: 1_000 }, (_, at) => `name-${from + at}`));
    await liar.redis.set(workerKey('liar'), name);
    await pause(2_500);
    expect(await orchestrator.exec({ code: WAITS, tools: ['arrive'] })).toMatchObject(RAN);
    expect(peakMemory(process.pid) - before).toBeLessThan(100 * MIB);
    await liar.announce();
    await until(async () => (await admin.scard(WORKERS_KEY)) <= 2, 'the names of no worker to be removed');
  }, 60_000);

  it('hundreds of demands that are taken and never answered are added again, and stay few in Redis', async () => {
    const [jobs, rounds] = [100, 5];
    const before = forgetPeak(process.pid);
    honest.kill('SIGSTOP');
    const results = Array.from(
      { length: jobs },
      async (_, at) => await orchestrator.exec({ code: `export default ${at};` }),
    );
    for (let taken = 0; taken < jobs * rounds; taken += 1) await liar.take();
    honest.kill('SIGCONT');
    const ended = await Promise.all(results);
    expect(ended.map(({ value, worker, attempt }) => [value, worker, attempt])).toEqual(
      Array.from({ length: jobs }, (_, at) => [at, 'honest', 1]),
    );
    expect(peakMemory(process.pid) - before).toBeLessThan(200 * MIB);
    // The engine ends demands whose worker is silent, and keeps the last thousand for their clients.
    const counts = async (): Promise<number[]> =>
      await Promise.all([
        admin.llen(`${KEY_PREFIX}:${liar.queue}:active`),
        admin.llen(`${KEY_PREFIX}:${liar.queue}:wait`),
      ]);
    await until(async () => (await counts()).every((count) => count === 0), 'no demand to be left', 90_000);
    expect(await admin.zcard(`${KEY_PREFIX}:${liar.queue}:failed`)).toBeLessThanOrEqual(1_000);
    // The client reads while it has a job.
    arrived = nothingIsLeft;
    expect(await orchestrator.exec({ code: WAITS, tools: ['arrive'] })).toMatchObject(RAN);
    arrived = async () => undefined;
  }, 240_000);
});

function numberBytes(number: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(number, 0, 6);
  return bytes;
}

/** The header of a frame. */
function frame(length: number, kind: number, stream = 0): Buffer {
  const header = Buffer.alloc(10);
  header.writeUInt32LE(length, 0);
  header[4] = kind;
  header.writeUInt32LE(stream, 6);
  return header;
}

function message(content: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(content));
  return Buffer.concat([frame(bytes.length, FRAME_KIND.message), bytes]);
}
