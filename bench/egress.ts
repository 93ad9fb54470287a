import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../src/sandboxes/runner.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine } from './container-floor.ts';
import { execSubject } from './exec-subject.ts';
import { measureRequests, type RequestCounts, type RequestReport } from './measure-requests.ts';
import { measurementOf, type Measurement, type Taken, timedRow } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ROUNDS = 5;
const JOB_ROUNDS = 15;
const COUNTS: RequestCounts = { keep: 300, new: 40, together: 800, mib: 256 };
const LIMITS = { networkRequests: 10_000, networkBytesIn: 4 * 1024 * 1024 * 1024 };
/** Numbers of a turn, with their units and goals. */
const NUMBERS = {
  'get.keep': ['keepMs', 'ms', 'ratio ≤ 5'],
  'get.new': ['newMs', 'ms', 'ratio ≤ 5'],
  rps: ['perSecond', 'requests/s', 'ratio ≥ 0.3'],
  bulk: ['mibPerSecond', 'MiB/s', 'ratio ≥ 0.2'],
} as const satisfies Record<string, [keyof RequestReport, string, string]>;

/** Requests of a job to a TLS host on this machine, against the same program without a sandbox. */
export const egressNamespace: BenchmarkGroup = groupOf('egress.namespace', async () => createLocalRunner());

/** The same in a container. */
export const egressDocker: BenchmarkGroup = groupOf('egress.docker', async ({ progress }) => {
  await benchEngine(progress);
  return createDockerRunner();
});

function groupOf(name: string, start: (options: BenchmarkOptions) => Promise<Runner>): BenchmarkGroup {
  const ids = [...Object.keys(NUMBERS), 'wash', 'job', 'job.without'].map((id) => `${name}.${id}`);
  return {
    ids,
    async run(options) {
      await using cleanUp = new AsyncDisposableStack();
      const upstream = cleanUp.use(await startUpstream());
      const runner = await start(options);
      const { port, caFile } = upstream;
      const network = {
        ...{ allow: [`bench.test:${port}`], caFile, allowPrivate: ['127.0.0.1/32'] },
        lookup: async () => [{ address: '127.0.0.1', family: 4 }],
        secrets: { TOKEN: { value: 'sk-0123456789abcdef0123456789abcdef012345', hosts: [`bench.test:${port}`] } },
      };
      const plain = cleanUp.use(createOrchestrator({ runners: [runner], network }));
      const base = `https://bench.test:${port}`;
      const sides = {
        bare: () => requestDirectly(`https://127.0.0.1:${port}`, caFile),
        job: () => requestsOfJob(plain, base, []),
        washed: () => requestsOfJob(plain, base, ['TOKEN']),
      };
      const reports: Record<string, RequestReport[]> = { bare: [], job: [], washed: [] };
      const subjects = Object.entries(sides).map(([id, measure]) => ({
        id,
        async sample() {
          const report = await measure();
          reports[id]?.push(report);
          options.progress(`${id}: ${JSON.stringify(report)}`);
          return 0;
        },
      }));
      const taken = await takeTurns(subjects, options.samples ?? ROUNDS, () => undefined);
      const column = (side: string, key: keyof RequestReport): Taken => {
        const turns = taken.get(side) ?? [];
        return 'failed' in turns ? turns : (reports[side] ?? []).slice(-turns.length).map((report) => report[key]);
      };
      const rows = Object.entries(NUMBERS).map(([id, [key, unit, goal]]): Measurement =>
        measurementOf({
          ...{ id: `${name}.${id}`, unit, goal, values: column('job', key) },
          baseline: { id: `${name}.${id}.direct`, values: column('bare', key) },
        }),
      );
      const wash = measurementOf({
        ...{ id: `${name}.wash`, unit: 'MiB/s', goal: 'ratio ≥ 0.8', values: column('washed', 'mibPerSecond') },
        baseline: { id: `${name}.bulk`, values: column('job', 'mibPerSecond') },
      });
      return [...rows, wash, ...(await jobRows(name, port, network, options))];
    },
  };

  /** A warm job with a network that it does not use, against one of an orchestrator without a network. */
  async function jobRows(
    prefix: string,
    port: number,
    network: NonNullable<Parameters<typeof createOrchestrator>[0]>['network'] & object,
    options: BenchmarkOptions,
  ): Promise<Measurement[]> {
    const pool = { size: 1, limits: {} };
    await using closed = createOrchestrator({ runners: [await start(options)], pool });
    await using open = createOrchestrator({ runners: [await start(options)], pool, network });
    const code = 'console.log(6 * 7)';
    const [job, without, base] = [`${prefix}.job`, `${prefix}.job.without`, `${prefix}.exec`];
    const subjects = [
      execSubject(base, closed, { code }, true),
      execSubject(without, open, { code }, true),
      execSubject(job, open, { code, network: [`bench.test:${port}`] }, true),
    ];
    const values = await takeTurns(subjects, options.samples ?? JOB_ROUNDS, options.progress);
    return [
      timedRow(values, { id: job, goal: 'median ≤ exec + 5 ms', baseline: base }),
      timedRow(values, { id: without, goal: 'ratio ≤ 1.05', baseline: base }),
    ];
  }
}

interface BenchUpstream extends AsyncDisposable {
  port: number;
  caFile: string;
}

async function startUpstream(): Promise<BenchUpstream> {
  const child = spawn(process.execPath, [new URL('egress-upstream.ts', import.meta.url).pathname], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port, pem } = JSON.parse(line.toString()) as { port: number; pem: string };
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, pem);
  return {
    port,
    caFile,
    async [Symbol.asyncDispose]() {
      child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A plain Node; the certificate names another host than the address. */
async function requestDirectly(base: string, caFile: string): Promise<RequestReport> {
  const look = `process.getBuiltinModule('node:tls').checkServerIdentity = () => undefined;`;
  const code = `${look}\nconst measure = ${String(measureRequests)};\nconsole.log(JSON.stringify(await measure('${base}', ${JSON.stringify(COUNTS)})));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { NODE_EXTRA_CA_CERTS: caFile, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const text = (await child.stdout.toArray()).join('');
  return JSON.parse(text) as RequestReport;
}

async function requestsOfJob(orchestrator: Orchestrator, base: string, secrets: string[]): Promise<RequestReport> {
  const code = `${String(measureRequests)}\nexport default await measureRequests('${base}', ${JSON.stringify(COUNTS)});`;
  const network = [base.replace('https://', '')];
  const { outcome, value, error } = await orchestrator.exec({ code, network, secrets, limits: LIMITS });
  if (outcome !== 'succeeded') throw new Error(`Cannot measure: the job did not succeed, got ${error?.message}.`);
  return value as RequestReport;
}
