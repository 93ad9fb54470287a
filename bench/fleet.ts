import { z } from 'zod';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import { createFleetRunner } from '../src/sandboxes/fleet/fleet-runner.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import { createFleetWorker } from '../src/worker/fleet-worker.ts';
import { defineTool } from '../src/tools/define/tool.ts';
import { type RedisServer, startRedis } from '../test/fixtures/fleet/redis.ts';
import { startWorkerProcess } from '../test/fixtures/fleet/worker-process.ts';
import { startBareStreams } from './bare-streams.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { echo } from './tool-calls.ts';
import { execSubject } from './exec-subject.ts';
import { type Measurement, measurementOf } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const MIB = 1024 * 1024;
const ROUNDS = 10;
const CALLS = 200;
const OUTPUT_MIB = 100;
const INPUT_MIB = 50;
const LEASE_MS = 3_000;
/** Jobs in a row whose processor time is counted together. */
const JOBS = 10;
const IDLE = { workers: 10, clients: 2 };
/** Workers of four slots each, and the time for which a job sleeps. */
const LINEAR = { workers: [1, 2, 4], slots: 4, sleepMs: 4_000, waves: 2 };

const CODE = {
  print: "console.log('42')",
  calls: `import { callTool } from 'skillcell';
for (let at = 0; at < 20; at += 1) await callTool('x.echo', { n: at });
const from = performance.now();
for (let at = 0; at < ${CALLS}; at += 1) await callTool('x.echo', { n: at });
export default (performance.now() - from) / ${CALLS};`,
  output: `const line = 'x'.repeat(65_535) + '\\n';
for (let left = ${(OUTPUT_MIB * MIB) / 65_536}; left > 0; left -= 1)
  if (!process.stdout.write(line)) await new Promise((go) => process.stdout.once('drain', go));`,
};

/** A row: its id, goal and unit, and the samples of one round on either side. */
interface Row {
  id: string;
  goal: string;
  unit: string;
  of(side: Side): Promise<number>;
  /** What each sample of the baseline costs besides the job on this host. */
  more?: () => Promise<number>;
}

interface Side {
  cold: Orchestrator;
  warm: Orchestrator;
}

const IDS = ['warm', 'cold', 'call', 'output', 'input', 'client'].map((name) => `fleet.${name}`);

/** Jobs on one worker of a fleet over the loopback, against the same jobs on this host. */
export const fleet: BenchmarkGroup = { ids: [...IDS, 'fleet.recover', 'fleet.idle', 'fleet.linear'], run };

async function run({ samples = ROUNDS, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  await using redis = await startRedis();
  await using parts = new AsyncDisposableStack();
  const limits = { totalOutputBytes: 2 * OUTPUT_MIB * MIB, workspaceMib: 512 };
  for (const [queue, pool] of [
    ['cold', 0],
    ['warm', 2],
  ] as const)
    parts.use(await startWorkerProcess(await redis.workerUrl(queue, queue), queue, { queue, pool, slots: 4 }));
  const far = (queue: string): Orchestrator =>
    parts.use(createOrchestrator({ runners: [createFleetRunner({ url: redis.url, queue })], tools: [echo()] }));
  const near = (pool: number): Orchestrator =>
    parts.use(createOrchestrator({ runners: [createLocalRunner()], tools: [echo()], pool: { size: pool } }));
  const sides = { fleet: { cold: far('cold'), warm: far('warm') }, local: { cold: near(0), warm: near(2) } };

  const timed = async (orchestrator: Orchestrator, job: Parameters<Orchestrator['exec']>[0]): Promise<number> => {
    const from = performance.now();
    const { outcome, error } = await orchestrator.exec({ limits, ...job });
    if (outcome !== 'succeeded') throw new Error(`Cannot measure: a job did not succeed, got ${error?.message}.`);
    return performance.now() - from;
  };
  const streams = parts.use(await startBareStreams(redis.adminUrl));
  const rows: Row[] = [
    {
      ...{ id: 'fleet.call', goal: 'ratio ≤ 1.5', unit: 'ms' },
      more: () => streams.roundTrip(CALLS),
      async of({ cold }) {
        const { value } = await cold.exec({ code: CODE.calls, tools: ['x.echo'] });
        return Number(value);
      },
    },
    {
      ...{ id: 'fleet.output', goal: 'rate ≥ 0.8', unit: 'MiB/s' },
      of: async ({ cold }) => (OUTPUT_MIB * 1_000) / (await timed(cold, { code: CODE.output })),
    },
    {
      ...{ id: 'fleet.input', goal: 'ratio ≤ 2.5', unit: 'ms' },
      of: ({ cold }) => timed(cold, { code: '1', files: { 'in.bin': new Uint8Array(INPUT_MIB * MIB) } }),
    },
    {
      ...{ id: 'fleet.client', goal: 'ratio ≤ 0.8', unit: 'ms CPU' },
      async of({ cold }) {
        const from = process.cpuUsage();
        for (let job = 0; job < JOBS; job += 1) await timed(cold, { code: '1' });
        const { user, system } = process.cpuUsage(from);
        return (user + system) / 1_000 / JOBS;
      },
    },
  ];
  const done: Measurement[] = [];
  if (wants('fleet.warm') || wants('fleet.cold')) {
    const subjects = (['cold', 'warm'] as const).flatMap((kind) =>
      (['fleet', 'local'] as const).map((side) =>
        execSubject(`${side}.${kind}`, sides[side][kind], { code: CODE.print }, kind === 'warm'),
      ),
    );
    // The pool of a worker fills unseen.
    const calm = subjects.map((each) => ({ ...each, prepare: () => new Promise<void>((go) => setTimeout(go, 600)) }));
    const values = await takeTurns(calm, samples * 2, progress);
    for (const [kind, goal] of [
      ['warm', 'ratio ≤ 1.5'],
      ['cold', 'ratio ≤ 1.15'],
    ] as const)
      done.push(
        measurementOf({
          ...{ id: `fleet.${kind}`, unit: 'ms', goal, values: values.get(`fleet.${kind}`) ?? [] },
          baseline: { id: `local.${kind}`, values: values.get(`local.${kind}`) ?? [] },
        }),
      );
  }
  for (const { id, goal, unit, of, more } of rows.filter((row) => wants(row.id))) {
    const subjects = [
      { id: 'fleet', sample: () => of(sides.fleet) },
      { id: 'local', sample: async () => (await of(sides.local)) + ((await more?.()) ?? 0) },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = {
      id: `${id}.${more === undefined ? 'local' : 'local+streams'}`,
      values: values.get('local') ?? [],
    };
    done.push(measurementOf({ id, unit, goal, values: values.get('fleet') ?? [], baseline }));
  }
  if (wants('fleet.idle')) done.push(await idle());
  if (wants('fleet.linear')) done.push(...(await linear(Math.min(samples, 3))));
  if (wants('fleet.recover')) done.push(await recover(redis, Math.min(samples, 5)));
  return done;
}

/** Commands a second that workers and clients at rest send. */
async function idle(): Promise<Measurement> {
  // Of its own: the workers of the other rows rest too.
  await using redis = await startRedis();
  await using parts = new AsyncDisposableStack();
  for (let at = 0; at < IDLE.workers; at += 1) {
    const name = `idle-${at}`;
    const worker = { url: await redis.workerUrl(name), name, runner: createLocalRunner(), slots: 2 };
    parts.use(await createFleetWorker(worker));
  }
  const orchestrators = Array.from({ length: IDLE.clients }, () =>
    parts.use(createOrchestrator({ runners: [createFleetRunner({ url: redis.url })] })),
  );
  for (const orchestrator of orchestrators) await orchestrator.probe();
  const admin = parts.adopt(redis.admin(), (each) => each.disconnect());
  const count = async (): Promise<number> =>
    Number(/^total_commands_processed:(\d+)/m.exec(await admin.info('stats'))?.[1]);
  const values: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const from = await count();
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    values.push(((await count()) - from) / 10);
  }
  const goal = `≤ 40 for ${IDLE.workers} workers and ${IDLE.clients} clients`;
  return measurementOf({
    ...{ id: 'fleet.idle', unit: 'commands/s', goal, values },
    baseline: { id: 'none', values: values.map(() => 1) },
  });
}

/** Jobs a second of programs that sleep, on more and more workers, against as many times those of one. */
async function linear(rounds: number): Promise<Measurement[]> {
  const { workers, slots, sleepMs, waves } = LINEAR;
  await using redis = await startRedis();
  const rates = new Map<number, number[]>(workers.map((count) => [count, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const count of workers) {
      await using parts = new AsyncDisposableStack();
      const queue = `linear-${round}-${count}`;
      for (let at = 0; at < count; at += 1) {
        const name = `${queue}-${at}`;
        parts.use(await startWorkerProcess(await redis.workerUrl(name, queue), name, { queue, slots }));
      }
      const orchestrator = parts.use(createOrchestrator({ runners: [createFleetRunner({ url: redis.url, queue })] }));
      // The first job of a process loads its modules.
      await orchestrator.exec({ code: '1' });
      const jobs = count * slots * waves;
      const code = `setTimeout(() => undefined, ${sleepMs})`;
      const from = performance.now();
      const ended = await Promise.all(Array.from({ length: jobs }, () => orchestrator.exec({ code })));
      const failed = ended.find(({ outcome }) => outcome !== 'succeeded');
      if (failed !== undefined) throw new Error(`Cannot measure: a job did not succeed, got ${failed.error?.message}.`);
      rates.get(count)?.push((jobs * 1_000) / (performance.now() - from));
    }
  }
  const [one = []] = rates.values();
  return workers.slice(1).map((count) =>
    measurementOf({
      ...{ id: `fleet.linear.${count}`, unit: 'jobs/s', goal: 'ratio ≥ 0.9', values: rates.get(count) ?? [] },
      baseline: { id: `one worker × ${count}`, values: one.map((rate) => rate * count) },
    }),
  );
}

/** From the kill of a worker until its job has begun on another one. */
async function recover(redis: RedisServer, rounds: number): Promise<Measurement> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const names = [`a${round}`, `b${round}`];
    const workers = await Promise.all(
      names.map(async (name) => startWorkerProcess(await redis.workerUrl(name, 'recover'), name, { queue: 'recover' })),
    );
    let killedAt = 0;
    let place = '';
    const tool = defineTool({
      ...{ id: 'bench.arrive', description: 'Ends the first worker.', input: z.object({}), effect: 'read' as const },
      async execute() {
        if (killedAt > 0) return;
        workers.find(({ name }) => name === place)?.kill('SIGKILL');
        killedAt = performance.now();
        await new Promise(() => undefined);
      },
    });
    const runner = createFleetRunner({ url: redis.url, queue: 'recover', leaseMs: LEASE_MS });
    await using orchestrator = createOrchestrator({ runners: [runner], tools: [tool] });
    const code = "import { callTool } from 'skillcell'; await callTool('bench.arrive', {});";
    for await (const event of orchestrator.stream({ kind: 'exec', code, tools: ['bench.arrive'] })) {
      if (event.type !== 'started') continue;
      place = event.worker ?? '';
      if (killedAt > 0) values.push(performance.now() - killedAt);
    }
    for (const worker of workers) await worker[Symbol.asyncDispose]();
  }
  return measurementOf({
    ...{ id: 'fleet.recover', unit: 'ms', goal: `the lease of ${LEASE_MS} ms and ≤ 2 s`, values },
    baseline: { id: 'lease', values: values.map(() => LEASE_MS) },
  });
}
