import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/check-options.ts';
import { DEFAULT_LIMITS } from '../../contracts/limits.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { currentOwner, ownerName } from '../owner.ts';
import { bundleSchema, ensureRuntime, type RuntimeBundle } from '../runtime-bundle.ts';
import { RUNNER_CONTRACT, type Runner, type RunnerReport, type Sandbox, type SandboxSpec } from '../runner.ts';
import { containerOptions } from './container-options.ts';
import { createContainerRemoval } from './container-removal.ts';
import { abortable, callEngine, connectEngine, hasEngine } from './engine.ts';
import { assertOwnKernel } from './own-kernel.ts';
import { checkEngine, type EngineReport } from './check-engine.ts';
import type { EngineOptions } from './engine-options.ts';
import { findImage } from './image.ts';
import { IMAGE_FLAVORS, type ImageFlavor } from './image-flavor.ts';
import { startContainer } from './start-container.ts';
import { sweepContainers } from './sweep-containers.ts';

/** Options of {@link createDockerRunner}. */
export interface DockerRunnerOptions extends EngineOptions {
  /** @default 'slim' */
  flavor?: ImageFlavor;
  /** Name of the OCI runtime for level `container`, such as crun: the engine must know it. Default: the engine's own. */
  runtime?: string;
  /** Name of an OCI runtime with a kernel of its own, for level `kernel`: the engine must know it. */
  kernelRuntime?: string;
  /** What the image must hold. Default: this copy's own bundle. */
  bundle?: RuntimeBundle;
}

const CONTAINER_ADVICE = 'Level container needs a Docker engine and its image: `skillcell image build`.';
const KERNEL_ADVICE =
  "Level kernel needs a Docker engine with an OCI runtime that brings a kernel of its own, such as gVisor's runsc: name it in SKILLCELL_KERNEL_RUNTIME, or as kernelRuntime of the runner.";

interface Ready {
  engine: Docker;
  image: string;
  report: EngineReport;
}

const name = z.string().check(z.minLength(1));
const optionsSchema = z.strictObject({
  host: z.optional(name),
  flavor: z.optional(z.enum(IMAGE_FLAVORS)),
  runtime: z.optional(name),
  kernelRuntime: z.optional(name),
  bundle: z.optional(bundleSchema),
}) as unknown as z.ZodMiniType<DockerRunnerOptions>;

/**
 * Creates the runner of containers: level `container`, and `kernel` where the engine has a runtime for it.
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
  const options = checkOptions(optionsSchema, given, { action: 'create the docker runner' });
  const owner = ownerName(currentOwner());
  const running = new Set<Sandbox>();
  const removal = createContainerRemoval();
  let ready: Promise<Ready> | undefined;
  /** Settled once the runtime of level kernel has shown a kernel that is not the engine's. */
  let ownKernel: Promise<void> | undefined;
  const closing = new AbortController();

  const prepare = async (): Promise<Ready> => {
    const engine = await connectEngine(options);
    const report = await checkEngine(engine, closing.signal);
    const bundle = options.bundle ?? (await ensureRuntime());
    const image = await findImage(engine, options.flavor ?? 'slim', bundle.digest, closing.signal);
    return { engine, report, image };
  };
  const prepared = (): Promise<Ready> => {
    ready ??= prepare();
    // What could not be prepared is tried again by the next job: an engine may have been started meanwhile.
    ready.catch(() => (ready = undefined));
    return ready;
  };

  /** The engine's first answers, or where it has given them a sign of life. */
  const hear = async (limitMs: number): Promise<void> => {
    const known = ready !== undefined;
    const { engine } = await prepared();
    if (!known) return;
    const ping = (abortSignal: AbortSignal): Promise<unknown> => abortable(engine).ping({ abortSignal });
    await callEngine('ask the engine', ping, limitMs, closing.signal);
  };

  const start = async (spec: SandboxSpec, { signal }: { signal: AbortSignal }): Promise<Sandbox> => {
    if (closing.signal.aborted)
      throw new SkillcellError('orchestrator.closed', 'Cannot start a container: the runner is closed.');
    const runtime = runtimeFor(spec, options);
    signal.throwIfAborted();
    const { engine, image, report } = await prepared();
    if (runtime !== undefined && !report.runtimes.includes(runtime)) {
      throw new SkillcellError(
        'runner.isolation-unmet',
        `Cannot start a container: the engine has no runtime ${runtime}, got ${report.runtimes.join(', ')}.`,
        { hint: 'Name a runtime that the engine has, or add this one to its daemon.json and restart it.' },
      );
    }
    const launch = (until: AbortSignal, program: Partial<Docker.ContainerCreateOptions> = {}): Promise<Sandbox> => {
      const name = `skillcell-${randomBytes(8).toString('hex')}`;
      const parts = { name, owner, image, runtime, appArmor: report.appArmor };
      const configuration = { ...containerOptions(affordable(spec, report.processors), parts), ...program };
      return startContainer(engine, configuration, spec.isolation, until, (container) =>
        removal.remove(container, name),
      ).catch((error: unknown) => {
        // The image may have been replaced, or the engine restarted as another one: the next job looks again.
        ready = undefined;
        if (SkillcellError.isInstance(error) && error.code === 'engine.unavailable') removal.owe(name);
        throw error;
      });
    };
    if (runtime !== undefined && spec.isolation === 'kernel') {
      // Other jobs wait for the same answer, so that the end of this one does not end the question.
      ownKernel ??= assertOwnKernel(runtime, report.kernel, (program) => launch(new AbortController().signal, program));
      ownKernel.catch(() => (ownKernel = undefined));
      await ownKernel;
    }
    const sandbox = await launch(signal);
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
      // Neither a missing socket nor the making of the bundle is the engine's delay.
      await connectEngine(options);
      if (options.bundle === undefined) await ensureRuntime();
      await withinDeadline(hear(patienceMs), {
        limitMs: patienceMs,
        signal,
        overdue() {
          const message = `Cannot ask the engine: the Docker engine does not answer (no answer within ${patienceMs / 1000} s).`;
          throw new SkillcellError('engine.unavailable', message);
        },
      });
    },
    async probe() {
      const report = await probeContainer(start);
      return options.kernelRuntime === undefined ? [report] : [await probeKernel(start, options.kernelRuntime), report];
    },
    async sweep(given) {
      if (!hasEngine(options)) return { removed: [], failed: [], skipped: 'there is no Docker engine here' };
      return await sweepContainers(await connectEngine(options), removal, given?.signal);
    },
    async close() {
      closing.abort(new Error('The runner is closed.'));
      await Promise.all([...running].map((sandbox) => sandbox.kill('the runner is closed')));
      await removal.settled();
      // The last chance of those that the engine did not answer for: nobody else takes them while this process lives.
      if (removal.owed.size > 0) await sweepContainers(await connectEngine(options), removal);
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

/** The engine refuses a limit above what it has, which limits nothing. */
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

type Start = (spec: SandboxSpec, options: { signal: AbortSignal }) => Promise<Sandbox>;

async function probeContainer(start: Start): Promise<RunnerReport> {
  return await probe(start, 'container', []);
}

async function probeKernel(start: Start, runtime: string): Promise<RunnerReport> {
  return await probe(start, 'kernel', [
    `runtime ${runtime}: inodes are not limited, and a fork or memory bomb ends the whole sandbox`,
  ]);
}

/** Finds out by really starting one. */
async function probe(start: Start, isolation: 'container' | 'kernel', notes: string[]): Promise<RunnerReport> {
  const limits = { memory: 'kernel', cpus: 'kernel', pids: 'kernel', workspace: 'kernel' } as const;
  const inodes = isolation === 'kernel' ? 'none' : 'kernel';
  const report: RunnerReport = {
    runner: 'docker',
    isolation,
    available: true,
    reasons: notes,
    limits: { ...limits, inodes },
  };
  try {
    const { memoryMib, cpus, pids, workspaceMib, workspaceInodes } = DEFAULT_LIMITS;
    const spec: SandboxSpec = {
      isolation,
      language: 'javascript',
      limits: { memoryMib, cpus, pids, workspaceMib, workspaceInodes },
    };
    const sandbox = await start(spec, { signal: AbortSignal.timeout(10_000) });
    try {
      await callEngine(
        'hear from a container',
        () => new Promise<void>((resolve) => sandbox.channel.once('data', () => resolve())),
      );
    } finally {
      await sandbox.kill('the probe is over');
    }
  } catch (error) {
    report.available = false;
    report.reasons.push(error instanceof Error ? error.message : String(error));
  }
  return report;
}
