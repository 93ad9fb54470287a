import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../src/sandboxes/runner.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine } from './container-floor.ts';
import { egressControl } from './egress-control.ts';
import { egressDelay } from './egress-delay.ts';
import { egressPackages } from './egress-packages.ts';
import { type EgressPart, type EgressScene, LIMITS, SECRET, startEgressScene } from './egress-scene.ts';
import { execSubject } from './exec-subject.ts';
import { measureRequests, type RequestCounts, type RequestReport } from './measure-requests.ts';
import { measurementOf, type Measurement, numbersOf, type Taken, timedRow } from './measurement.ts';
import { missingForSandboxRuntime, runInSandboxRuntime } from './sandbox-runtime-peer.ts';
import { takeTurns } from './take-turns.ts';
import { echo } from './tool-calls.ts';

const ROUNDS = 5;
const JOB_ROUNDS = 15;
const COUNTS: RequestCounts = { keep: 300, new: 40, together: 800, mib: 256 };
const PEER = 'sandbox-runtime';
/** Numbers of a turn, with their units and goals. */
const NUMBERS = {
  'get.keep': ['keepMs', 'ms', 'ratio ≤ 5'],
  'get.new': ['newMs', 'ms', 'ratio ≤ 5'],
  rps: ['perSecond', 'requests/s', 'ratio ≥ 0.3'],
  bulk: ['mibPerSecond', 'MiB/s', 'ratio ≥ 0.2'],
} as const satisfies Record<string, [keyof RequestReport, string, string]>;

/** Jobs with a network at level namespace, against programs without a sandbox. */
export const egressNamespace: BenchmarkGroup = groupOf('egress.namespace', async () => createLocalRunner(), [
  requests(PEER),
  jobs(async () => createLocalRunner()),
  egressControl,
  egressDelay,
  egressPackages(async () => ({
    runner: createLocalRunner(),
    // npm and its Node are those of the sandbox.
    npm: (args, _folder, variables) => [
      ...['env', '-i', 'PATH=/usr/local/bin:/usr/bin:/bin', ...pairsOf(variables), 'npm', ...args],
    ],
  })),
]);

/** The same in a container. */
export const egressDocker: BenchmarkGroup = groupOf('egress.docker', startDocker, [
  requests(),
  jobs(startDocker),
  egressControl,
  egressDelay,
  egressPackages(async ({ progress }) => {
    const { image } = await benchEngine(progress, 'network');
    return {
      runner: createDockerRunner({ flavor: 'network' }),
      npm: (args, folder, variables) => [
        ...['docker', 'run', '--rm', '--network=host', '--cpus=1'],
        ...[`--volume=${folder}:${folder}`, `--workdir=${folder}`],
        ...[...pairsOf(variables).map((pair) => `--env=${pair}`), '--entrypoint=/usr/bin/npm', image, ...args],
      ],
    };
  }),
]);

async function startDocker({ progress }: BenchmarkOptions): Promise<Runner> {
  await benchEngine(progress);
  return createDockerRunner();
}

function pairsOf(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

function groupOf(
  group: string,
  start: (options: BenchmarkOptions) => Promise<Runner>,
  parts: readonly EgressPart[],
): BenchmarkGroup {
  const idsOf = ({ names }: EgressPart): string[] => names.map((name) => `${group}.${name}`);
  return {
    ids: parts.flatMap(idsOf),
    async run(options) {
      await using cleanUp = new AsyncDisposableStack();
      const scene = cleanUp.use(await startEgressScene());
      const { network } = scene;
      const runners = [await start(options)];
      const orchestrator = cleanUp.use(createOrchestrator({ runners, network, tools: [echo()] }));
      const rows: Measurement[] = [];
      for (const part of parts)
        if (idsOf(part).some(options.wants)) rows.push(...(await part.rows({ group, scene, orchestrator, options })));
      return rows;
    },
  };
}

/** Requests of a job to the host, against the same program without a sandbox, and by a peer. */
function requests(peer?: typeof PEER): EgressPart {
  const names = Object.keys(NUMBERS);
  return {
    names: [...names, 'wash', ...(peer === undefined ? [] : names.map((name) => `${peer}.${name}`))],
    async rows({ group, scene, orchestrator, options }) {
      const { direct, caFile } = scene;
      const sides: Record<string, () => Promise<RequestReport>> = {
        bare: () => requestDirectly(direct, caFile),
        job: () => requestsOfJob(orchestrator, scene, []),
        washed: () => requestsOfJob(orchestrator, scene, [SECRET]),
      };
      const missing = peer === undefined ? undefined : missingForSandboxRuntime();
      if (missing !== undefined) options.progress(`${peer} is left out: ${missing}`);
      else if (peer !== undefined) sides[peer] = () => requestsOfPeer(direct, caFile);
      const subjects = Object.entries(sides).map(([id, measure]) => ({
        id,
        async sample() {
          const report = await measure();
          options.progress(`${id}: ${JSON.stringify(report)}`);
          return report;
        },
      }));
      const taken = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
      const column = (side: string, key: keyof RequestReport): Taken =>
        numbersOf(taken.get(side), (report) => report[key]);
      const rowsOf = (side: string): Measurement[] =>
        Object.entries(NUMBERS).map(([name, [key, unit, ownGoal]]) => {
          const [id, goal] = side === 'job' ? [name, ownGoal] : [`${side}.${name}`, null];
          return measurementOf({
            ...{ id: `${group}.${id}`, unit, goal, values: column(side, key) },
            baseline: { id: `${group}.${name}.direct`, values: column('bare', key) },
          });
        });
      const wash = measurementOf({
        ...{ id: `${group}.wash`, unit: 'MiB/s', goal: 'ratio ≥ 0.8', values: column('washed', 'mibPerSecond') },
        baseline: { id: `${group}.bulk`, values: column('job', 'mibPerSecond') },
      });
      return [...rowsOf('job'), wash, ...(peer !== undefined && peer in sides ? rowsOf(peer) : [])];
    },
  };
}

/** A warm job with a network that it does not use, against one of an orchestrator without a network. */
function jobs(start: (options: BenchmarkOptions) => Promise<Runner>): EgressPart {
  return {
    names: ['job', 'job.without'],
    async rows({ group, scene: { network, place }, options }) {
      const pool = { size: 1, limits: {} };
      await using closed = createOrchestrator({ runners: [await start(options)], pool });
      await using open = createOrchestrator({ runners: [await start(options)], pool, network });
      const code = 'console.log(6 * 7)';
      const [job, without, base] = [`${group}.job`, `${group}.job.without`, `${group}.exec`];
      const subjects = [
        execSubject(base, closed, { code }, true),
        execSubject(without, open, { code }, true),
        execSubject(job, open, { code, network: [place] }, true),
      ];
      const values = await takeTurns(subjects, options.samples ?? JOB_ROUNDS, options.progress);
      return [
        timedRow(values, { id: job, goal: 'median ≤ exec + 5 ms', baseline: base }),
        timedRow(values, { id: without, goal: 'ratio ≤ 1.05', baseline: base }),
      ];
    },
  };
}

/** The text of a program that prints its report. */
function programFor(base: string): string {
  const counts = JSON.stringify(COUNTS);
  return `const measure = ${String(measureRequests)};\nconsole.log(JSON.stringify(await measure('${base}', ${counts})));`;
}

async function requestDirectly(base: string, caFile: string): Promise<RequestReport> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', programFor(base)], {
    env: { NODE_EXTRA_CA_CERTS: caFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout)) as RequestReport;
}

async function requestsOfPeer(base: string, caFile: string): Promise<RequestReport> {
  return JSON.parse(await runInSandboxRuntime(programFor(base), new URL(base).hostname, caFile)) as RequestReport;
}

async function requestsOfJob(
  orchestrator: Orchestrator,
  { place }: EgressScene,
  secrets: string[],
): Promise<RequestReport> {
  const code = `${String(measureRequests)}\nexport default await measureRequests('https://${place}', ${JSON.stringify(COUNTS)});`;
  const { outcome, value, error } = await orchestrator.exec({ code, network: [place], secrets, limits: LIMITS });
  if (outcome !== 'succeeded') throw new Error(`Cannot measure: the job did not succeed, got ${error?.message}.`);
  return value as RequestReport;
}
