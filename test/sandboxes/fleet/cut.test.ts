import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { startWorkerProcess } from '../../fixtures/fleet/worker-process.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { type HeldWays, startTcpProxy, type TcpProxy } from '../../fixtures/tcp-proxy.ts';
import { toolList } from '../../fixtures/tool-list.ts';
import { until } from '../../fixtures/until.ts';

const MIB = 1024 * 1024;
const LEASE_MS = 5_000;
const OUTPUT_MIB = 24;
const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
/** Reads a large input, and writes a large output whose bytes tell their place. */
const LARGE = `import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
for (let at = 0; at < ${OUTPUT_MIB * 16}; at += 1)
  if (!process.stdout.write(String(at).padStart(65_535, '.') + '\\n'))
    await new Promise((go) => process.stdout.once('drain', go));
export default createHash('sha256').update(readFileSync('in.bin')).digest('hex');`;
const EXPECTED = Array.from({ length: OUTPUT_MIB * 16 }, (_, at) => `${String(at).padStart(65_535, '.')}\n`).join('');
const INPUT = Buffer.alloc(16 * MIB, 'an input whose length is no power of two;');
const INPUT_DIGEST = createHash('sha256').update(INPUT).digest('hex');

describeWith('a fleet whose connections are cut', MISSING, () => {
  let redis: RedisServer;
  let admin: Redis;
  let orchestrator: Orchestrator;
  const proxies = new Map<string, TcpProxy>();
  const parts = new AsyncDisposableStack();
  let write: (worker: string) => void = () => undefined;
  let arrived: (worker: string) => Promise<void> = async () => undefined;
  let place = '';
  beforeAll(async () => {
    redis = parts.use(await startRedis());
    admin = parts.adopt(redis.admin(), (each) => each.disconnect());
    const behind = async (name: string, url: string): Promise<string> => {
      const proxy = parts.adopt(await startTcpProxy(redis.port), (each) => each.close());
      proxies.set(name, proxy);
      return url.replace(`:${redis.port}`, `:${proxy.port}`);
    };
    const options = { slots: 4 };
    for (const name of ['one', 'two'])
      parts.use(await startWorkerProcess(await behind(name, await redis.workerUrl(name)), name, options));
    const url = await behind('client', redis.url);
    orchestrator = parts.use(
      createOrchestrator({
        runners: [createFleetRunner({ url, leaseMs: LEASE_MS, emptyFleet: 'wait' })],
        tools: toolList([
          ['arrive', { description: 'Waits.', effect: 'read', execute: async () => await arrived(place) }],
          ['write', { description: 'Writes.', effect: 'read', execute: async () => write(place) }],
        ]),
      }),
    );
  }, 60_000);
  afterAll(async () => {
    for (const proxy of proxies.values()) proxy.hold('none');
    await parts.disposeAsync();
  }, 60_000);

  const runWhile = async (
    job: ExecOptions,
    onOutput: () => void = () => undefined,
    onStarted = onOutput,
  ): Promise<JobResult> => {
    const stream = orchestrator.stream({ kind: 'exec', ...job });
    let hasOutput = false;
    for await (const event of stream) {
      if (event.type === 'started') {
        place = event.worker ?? '';
        onStarted();
      }
      if (event.type !== 'output' || hasOutput) continue;
      hasOutput = true;
      onOutput();
    }
    return await stream.result;
  };

  it.each<[string, 'client' | 'worker', (proxy: TcpProxy) => Promise<void>]>([
    ['stands still for the client', 'client', stand],
    ['stands still for the worker', 'worker', stand],
    ['is refused to the client', 'client', refuse],
    ['is refused to the worker', 'worker', refuse],
  ])(
    '0.6 lease without a connection lose no attempt and no byte: it %s',
    async (_how, side, fault) => {
      const faults: Promise<void>[] = [];
      const meet = (): void => {
        const proxy = proxies.get(side === 'client' ? 'client' : place);
        if (proxy !== undefined) faults.push((faults.at(-1) ?? Promise.resolve()).then(() => fault(proxy)));
      };
      const limits = { keptOutputBytes: 2 * OUTPUT_MIB * MIB, totalOutputBytes: 2 * OUTPUT_MIB * MIB };
      const result = await runWhile({ code: LARGE, files: { 'in.bin': INPUT }, limits }, meet);
      await Promise.all(faults);
      expect(faults).toHaveLength(2);
      expect(result).toMatchObject({ outcome: 'succeeded', value: INPUT_DIGEST, attempt: 1 });
      expect(result.stdout.text === EXPECTED).toBe(true);
    },
    120_000,
  );

  it.each<[string, HeldWays]>([
    ['to Redis', 'to-service'],
    ['from Redis', 'to-client'],
  ])(
    'a worker that is cut off one way, %s, loses its job to another, and its late call reaches no one',
    async (_way, ways) => {
      const writes: string[] = [];
      write = (worker) => void writes.push(worker);
      let proxy: TcpProxy | undefined;
      arrived = async (worker) => {
        if (proxy !== undefined) return;
        proxy = proxies.get(worker);
        proxy?.hold(ways);
      };
      const code =
        "import { callTool } from 'skillcell'; await callTool('arrive'); await callTool('write'); export default 7;";
      const result = await runWhile({ code, tools: ['arrive', 'write'] });
      expect(result).toMatchObject({ outcome: 'succeeded', value: 7, attempt: 2 });
      expect(writes).toEqual([result.worker]);
      // What was held arrives now.
      proxy?.hold('none');
      const isRead = async (): Promise<boolean> => {
        const streams = await admin.keys('*:from:*');
        return (await Promise.all(streams.map((stream) => admin.xlen(stream)))).every((length) => length === 0);
      };
      await pause(LEASE_MS);
      // The client reads while it has a job.
      arrived = () => until(isRead, 'late entries to be read');
      expect(
        await runWhile({ code: "import { callTool } from 'skillcell'; await callTool('arrive')", tools: ['arrive'] }),
      ).toMatchObject({ outcome: 'succeeded' });
      expect(writes).toEqual([result.worker]);
    },
    120_000,
  );

  it('output that its client does not read stays on its worker: Redis holds less than 8 MiB of a job', async () => {
    const used = async (): Promise<number> => Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
    const before = await used();
    const limits = { keptOutputBytes: 2 * OUTPUT_MIB * MIB, totalOutputBytes: 2 * OUTPUT_MIB * MIB };
    const growths: number[] = [];
    const measure = async (): Promise<void> => {
      proxies.get('client')?.hold('to-client');
      for (let at = 0; at < 12; at += 1) {
        growths.push((await used()) - before);
        await pause(200);
      }
      proxies.get('client')?.hold('none');
    };
    let measuring: Promise<void> | undefined;
    const result = await runWhile(
      { code: LARGE, files: { 'in.bin': INPUT }, limits },
      () => void (measuring ??= measure()),
      () => undefined,
    );
    await measuring;
    expect(result).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    expect(result.stdout.text === EXPECTED).toBe(true);
    expect(Math.max(...growths)).toBeLessThan(8 * MIB);
    // Its window was full, so more was held back.
    expect(Math.max(...growths)).toBeGreaterThan(MIB / 2);
  }, 120_000);
});

/** The line is silent both ways, and no connection ends. */
async function stand(proxy: TcpProxy): Promise<void> {
  proxy.hold('both');
  await pause(0.6 * LEASE_MS);
  proxy.hold('none');
}

/** All connections end, and new ones end at once. */
async function refuse(proxy: TcpProxy): Promise<void> {
  const cutting = setInterval(() => proxy.cut(), 5);
  await pause(0.6 * LEASE_MS);
  clearInterval(cutting);
}
