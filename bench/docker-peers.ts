import { existsSync } from 'node:fs';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import { KERNEL_RUNTIME, missingFor, startKernelEngine } from '../test/fixtures/kernel-engine.ts';
import { BARE_NODE, bareNode, timedCommand } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine, type Engine } from './container-floor.ts';
import { execSubject } from './exec-subject.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { startSandboxRuntime } from './sandbox-runtime-peer.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 15;
const WARM = 'peers.skillcell.warm';
const RUN = 'peers.docker.run';
const EXEC = 'peers.docker.exec';
const BUBBLEWRAP = 'peers.bubblewrap';
const SANDBOX_RUNTIME = 'peers.sandbox-runtime';
const KERNEL_WARM = 'peers.skillcell.kernel.warm';
const KERNEL_RUN = 'peers.gvisor.run';
const IDS = [WARM, RUN, EXEC, BUBBLEWRAP, SANDBOX_RUNTIME, KERNEL_WARM, KERNEL_RUN];

const NODE = '/usr/local/bin/node';
const PROGRAM = ['-e', 'console.log(42)'];
const JOB = { code: 'console.log(6 * 7)' };

/** The same program of one line by other means, for comparison with common alternatives. */
export const dockerPeers: BenchmarkGroup = { ids: IDS, run };

async function run(options: BenchmarkOptions): Promise<Measurement[]> {
  const { samples = SAMPLES, wants, progress } = options;
  const engine = await benchEngine(progress);
  await using cleanUp = new AsyncDisposableStack();
  const subjects: Subject[] = [];
  if (wants(WARM)) {
    const orchestrator = cleanUp.use(createOrchestrator({ runners: [createDockerRunner()], pool: { size: 1 } }));
    subjects.push(execSubject(WARM, orchestrator, JOB, true));
  }
  if (wants(RUN)) subjects.push(command(RUN, ['docker', ...dockerRun(engine.image)]));
  if (wants(EXEC)) {
    const waiting = await startWaiting(engine);
    cleanUp.defer(async () => void (await waiting.remove({ force: true })));
    subjects.push(command(EXEC, ['docker', 'exec', waiting.id, NODE, ...PROGRAM]));
  }
  if (wants(BUBBLEWRAP) && existsSync('/usr/bin/bwrap')) subjects.push(command(BUBBLEWRAP, bubblewrap()));
  if (wants(SANDBOX_RUNTIME)) {
    const peer = await startSandboxRuntime();
    if (typeof peer === 'string') progress(`${SANDBOX_RUNTIME} is left out: ${peer}`);
    else subjects.push({ id: SANDBOX_RUNTIME, sample: cleanUp.use(peer).sample });
  }
  if (wants(KERNEL_WARM) || wants(KERNEL_RUN)) subjects.push(...(await withGvisor(engine, cleanUp, options)));

  const values = await takeTurns([{ id: BARE_NODE, sample: bareNode }, ...subjects], samples, progress);
  const baseline = { id: BARE_NODE, values: values.get(BARE_NODE) ?? [] };
  return subjects.map(({ id }) =>
    measurementOf({ id, unit: 'ms', goal: null, values: values.get(id) ?? [], baseline }),
  );
}

/** gVisor, directly and as a runner of this project, with its own engine. */
async function withGvisor(
  { image }: Engine,
  cleanUp: AsyncDisposableStack,
  { wants, progress }: BenchmarkOptions,
): Promise<Subject[]> {
  const missing = missingFor(KERNEL_RUNTIME);
  if (missing !== undefined) {
    progress(`${KERNEL_WARM} and ${KERNEL_RUN} are left out: this machine lacks ${missing}`);
    return [];
  }
  const { host } = cleanUp.use(await startKernelEngine());
  const subjects: Subject[] = [];
  if (wants(KERNEL_WARM)) {
    const runners = [createDockerRunner({ host, kernelRuntime: KERNEL_RUNTIME })];
    const pool = { size: 1, isolation: 'kernel' as const };
    const orchestrator = cleanUp.use(createOrchestrator({ runners, pool }));
    subjects.push(execSubject(KERNEL_WARM, orchestrator, { ...JOB, isolation: 'kernel' }, true));
  }
  if (wants(KERNEL_RUN)) {
    const args = dockerRun(image, `--runtime=${KERNEL_RUNTIME}`);
    subjects.push(command(KERNEL_RUN, ['docker', '--host', host, ...args]));
  }
  return subjects;
}

function dockerRun(image: string, ...options: string[]): string[] {
  return ['run', '--rm', '--network=none', ...options, '--entrypoint', NODE, image, ...PROGRAM];
}

/** A running container: `docker exec` needs one, and jobs that share it see each other's files. */
async function startWaiting({
  docker,
  image,
}: Engine): Promise<Awaited<ReturnType<Engine['docker']['createContainer']>>> {
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['/bin/sleep', '600'],
    HostConfig: { NetworkMode: 'none' },
  });
  await container.start();
  return container;
}

function bubblewrap(): string[] {
  const shared = ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', '--proc', '/proc', '--dev', '/dev'];
  return ['bwrap', ...shared, '--', process.execPath, ...PROGRAM];
}

function command(id: string, [name = '', ...args]: string[]): Subject {
  return { id, sample: () => timedCommand(name, args) };
}
