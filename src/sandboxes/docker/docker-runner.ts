import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { currentOwner, ownerName } from '../../durable/owner.ts';
import { bundleSchema, ensureRuntime, type RuntimeBundle } from '../runtime-bundle.ts';
import { type Runner, RUNNER_CONTRACT, type RunnerReport, type Sandbox, type SandboxSpec } from '../runner.ts';
import { containerOptions } from './container-options.ts';
import { type ContainerRemoval, createContainerRemoval } from './container-removal.ts';
import { CALL_MS, callEngine, connectEngine, hasEngine } from './engine/engine.ts';
import { addressFault } from './engine/engine-address.ts';
import type { EngineReport } from './engine/check-engine.ts';
import type { EngineOptions } from './engine/engine-options.ts';
import { IMAGE_FLAVORS, type ImageFlavor } from './image-flavor.ts';
import { createPreparedEngine, type EngineFacts, type PreparedEngine } from './build/prepared-engine.ts';
import { startContainer } from './start-container.ts';
import { sweepContainers } from './sweep-containers.ts';
import { probeByStarting } from '../probe-by-starting.ts';

/** Deadline of a container start during a probe. */
const START_MS = 10_000;

type Start = (spec: SandboxSpec, options: { signal: AbortSignal }) => Promise<Sandbox>;

/** Starts a container with another program than the entry. */
type StartProgram = (program: Pick<Docker.ContainerCreateOptions, 'Entrypoint' | 'Cmd'>) => Promise<Sandbox>;

/** Options of {@link createDockerRunner}. */
export interface DockerRunnerOptions extends EngineOptions {
  /** @default 'slim' */
  flavor?: ImageFlavor;
  /** Name of the OCI runtime for level `container`, such as crun. The engine must know it. Default: the engine's default. */
  runtime?: string;
  /** Name of an OCI runtime with its own kernel, for level `kernel`. The engine must know it. */
  kernelRuntime?: string;
  /** Runtime bundle that the image must hold. Default: the bundle of this copy of skillcell. */
  bundle?: RuntimeBundle;
}

const ACTION = 'create the docker runner';
const CONTAINER_ADVICE = 'Level container needs a Docker engine and its image: `skillcell image build`.';
const KERNEL_ADVICE =
  "Level kernel needs a Docker engine with an OCI runtime that brings a kernel of its own, such as gVisor's runsc: name it in SKILLCELL_KERNEL_RUNTIME, or as kernelRuntime of the runner.";

const name = z.string().check(z.minLength(1));
const optionsSchema = z.strictObject({
  host: z.optional(name),
  flavor: z.optional(z.enum(IMAGE_FLAVORS)),
  runtime: z.optional(name),
  kernelRuntime: z.optional(name),
  bundle: z.optional(bundleSchema),
}) as unknown as z.ZodMiniType<DockerRunnerOptions>;

/**
 * Creates the runner of containers: level `container`, and level `kernel` if `kernelRuntime` is set.
 *
 * @throws SkillcellError `options.invalid`
 * @example
 * ```ts
 * import { createDockerRunner, createLocalRunner, createOrchestrator } from 'skillcell';
 *
 * const runners = [createDockerRunner({ flavor: 'slim' }), createLocalRunner()];
 * await using orchestrator = createOrchestrator({ runners });
 * console.log((await orchestrator.probe()).map(({ runner, isolation }) => `${runner} ${isolation}`));
 * // prints: [ 'docker container', 'local namespace', 'local none' ]
 * ```
 */
export function createDockerRunner(given: DockerRunnerOptions = {}): Runner {
  const options = checkOptions(optionsSchema, given, { action: ACTION });
  const fault = options.host === undefined ? undefined : addressFault(options.host);
  if (fault !== undefined)
    throw new SkillcellError('options.invalid', `Cannot ${ACTION}: host must name an engine, but ${fault}.`);
  return openDockerRunner(options);
}

/**
 * Creates the runner without checking its options. An invalid address in the environment is not an option fault but an engine that
 * cannot be reached.
 */
export function openDockerRunner(options: DockerRunnerOptions): Runner {
  const closing = new AbortController();
  const running = new Set<Sandbox>();
  const removal = createContainerRemoval();
  const prepared = createPreparedEngine(options, closing.signal);
  const launch = createLauncher(prepared, removal);
  const kernel = createKernelCheck();

  const start = async (spec: SandboxSpec, { signal }: { signal: AbortSignal }): Promise<Sandbox> => {
    if (closing.signal.aborted)
      throw new SkillcellError('orchestrator.closed', 'Cannot start a container: the runner is closed.');
    const runtime = runtimeFor(spec, options);
    signal.throwIfAborted();
    const facts = await prepared.facts();
    if (runtime !== undefined) assertRuntime(runtime, facts.report);
    if (runtime !== undefined && spec.isolation === 'kernel') {
      // Other jobs share the answer, so the abort of this job must not abort the check.
      const never = new AbortController().signal;
      await kernel.assertOwn(runtime, facts.report.kernel, (program) => launch(facts, spec, runtime, never, program));
    }
    const sandbox = await launch(facts, spec, runtime, signal);
    running.add(sandbox);
    void sandbox.exited.then(() => running.delete(sandbox));
    if (closing.signal.aborted) await sandbox.kill('the runner is closed');
    return sandbox;
  };

  return {
    name: 'docker',
    contract: RUNNER_CONTRACT,
    levels: options.kernelRuntime === undefined ? ['container'] : ['container', 'kernel'],
    advice: { container: CONTAINER_ADVICE, kernel: KERNEL_ADVICE },
    start,
    async reach({ signal, patienceMs }) {
      // Outside of the deadline: a missing socket and the build of the bundle are not delays of the engine.
      await connectEngine(options);
      if (options.bundle === undefined) await ensureRuntime();
      await withinDeadline(prepared.hear(patienceMs), {
        limitMs: patienceMs,
        signal,
        overdue() {
          const message = `Cannot ask the engine: the Docker engine does not answer (no answer within ${patienceMs / 1000} s).`;
          throw new SkillcellError('engine.unavailable', message);
        },
      });
    },
    async probe({ signal } = {}) {
      const report = await probeContainer(start, signal);
      const { kernelRuntime } = options;
      return kernelRuntime === undefined ? [report] : [await probeKernel(start, kernelRuntime, signal), report];
    },
    async sweep(given) {
      if (!hasEngine(options)) return { removed: [], failed: [], skipped: 'there is no Docker engine here' };
      return await sweepContainers(await connectEngine(options), removal, given?.signal);
    },
    async close() {
      closing.abort(new Error('The runner is closed.'));
      await Promise.all([...running].map((sandbox) => sandbox.kill('the runner is closed')));
      await removal.settled();
      // Last attempt for unconfirmed removals: no other process removes them while this one lives.
      if (removal.owed.size > 0) await sweepContainers(await connectEngine(options), removal);
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

type Program = Partial<Docker.ContainerCreateOptions>;

/** Starts containers of this process; `program` replaces the program of the image. */
type Launch = (
  facts: EngineFacts,
  spec: SandboxSpec,
  runtime: string | undefined,
  until: AbortSignal,
  program?: Program,
) => Promise<Sandbox>;

function createLauncher(prepared: PreparedEngine, removal: ContainerRemoval): Launch {
  const owner = ownerName(currentOwner());
  return async ({ engine, image, report }, spec, runtime, until, program = {}) => {
    const name = `skillcell-${randomBytes(8).toString('hex')}`;
    const parts = { name, owner, image, runtime, appArmor: report.appArmor };
    const configuration = { ...containerOptions(affordable(spec, report.processors), parts), ...program };
    try {
      return await startContainer(engine, configuration, spec.isolation, until, (container) =>
        removal.remove(container, name),
      );
    } catch (error) {
      prepared.forget();
      if (SkillcellError.isInstance(error) && error.code === 'engine.unavailable') removal.owe(name);
      throw error;
    }
  };
}

/** Checks once that the runtime of level kernel has its own kernel. A failure is checked again. */
function createKernelCheck(): { assertOwn: typeof assertOwnKernel } {
  let known: Promise<void> | undefined;
  return {
    async assertOwn(...question) {
      known ??= assertOwnKernel(...question);
      known.catch(() => (known = undefined));
      await known;
    },
  };
}

function assertRuntime(runtime: string, { runtimes }: EngineReport): void {
  if (runtimes.includes(runtime)) return;
  throw new SkillcellError(
    'runner.isolation-unmet',
    `Cannot start a container: the engine has no runtime ${runtime}, got ${runtimes.join(', ')}.`,
    { hint: 'Name a runtime that the engine has, or add this one to its daemon.json and restart it.' },
  );
}

/** Caps the processors: the engine refuses a limit above its own number. */
function affordable(spec: SandboxSpec, processors: number): SandboxSpec {
  return { ...spec, limits: { ...spec.limits, cpus: Math.min(spec.limits.cpus, processors) } };
}

function runtimeFor(spec: SandboxSpec, { kernelRuntime, runtime }: DockerRunnerOptions): string | undefined {
  if (spec.isolation === 'container') return runtime;
  if (spec.isolation === 'kernel' && kernelRuntime !== undefined) return kernelRuntime;
  throw new SkillcellError(
    'runner.isolation-unmet',
    `Cannot start a container at level ${spec.isolation}: it is not configured.`,
    spec.isolation === 'kernel' ? { hint: KERNEL_ADVICE } : {},
  );
}

/**
 * Checks in a container that an OCI runtime has its own kernel: its configured name does not prove it.
 *
 * @param runtime the engine's name of the runtime
 * @param engineKernel kernel release of the engine
 * @throws SkillcellError `runner.isolation-unmet` if the kernel is that of the engine, or cannot be distinguished from it
 */
async function assertOwnKernel(runtime: string, engineKernel: string, start: StartProgram): Promise<void> {
  // The program answers only when asked, so that the answer is not lost before the listener is attached.
  const sandbox = await start({ Entrypoint: ['/bin/sh', '-c', 'read -r question; uname -r'], Cmd: [] });
  let kernel: string;
  try {
    kernel = await callEngine('hear from a container', () => askKernel(sandbox));
  } finally {
    await sandbox.kill('its kernel is known');
  }
  if (kernel !== '' && engineKernel !== '' && kernel !== engineKernel) return;
  throw new SkillcellError(
    'runner.isolation-unmet',
    `Cannot start a container at level kernel: under the runtime ${runtime} it has the kernel of the engine, got ${kernel || 'no answer'}.`,
    { hint: 'Name a runtime that brings a kernel of its own, such as runsc of gVisor, or take level container.' },
  );
}

async function askKernel({ channel }: Sandbox): Promise<string> {
  let said = '';
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  channel.once('close', resolve);
  channel.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
    if (said.includes('\n')) resolve();
  });
  channel.write('?\n');
  await answered;
  return said.trim();
}

/** Probes level `container` by starting a container. */
export async function probeContainer(start: Start, signal?: AbortSignal): Promise<RunnerReport> {
  return await probe(start, signal, 'container', []);
}

/** Probes level `kernel` by starting a container. */
export async function probeKernel(start: Start, runtime: string, signal?: AbortSignal): Promise<RunnerReport> {
  return await probe(start, signal, 'kernel', [
    `runtime ${runtime}: inodes are not limited, and a fork or memory bomb ends the whole sandbox`,
  ]);
}

async function probe(
  start: Start,
  signal: AbortSignal | undefined,
  isolation: 'container' | 'kernel',
  notes: string[],
): Promise<RunnerReport> {
  const limits = { memory: 'kernel', cpus: 'kernel', pids: 'kernel', workspace: 'kernel' } as const;
  const inodes = isolation === 'kernel' ? 'none' : 'kernel';
  const overdue = AbortSignal.timeout(START_MS);
  const until = signal === undefined ? overdue : AbortSignal.any([signal, overdue]);
  const heard = async ({ channel }: Sandbox): Promise<void> => {
    const word = (): Promise<void> => new Promise((resolve) => channel.once('data', () => resolve()));
    await callEngine('hear from a container', word, CALL_MS, signal);
  };
  const report = { runner: 'docker', isolation, reasons: notes, limits: { ...limits, inodes } } as const;
  return await probeByStarting(report, (spec) => start(spec, { signal: until }), heard);
}
