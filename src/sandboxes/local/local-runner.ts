import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { currentOwner, ownerName } from '../../durable/owner.ts';
import { bundleSchema, ensureRuntime, type RuntimeBundle } from '../runtime-bundle.ts';
import { type Runner, RUNNER_CONTRACT, type RunnerReport, type Sandbox, type SandboxSpec } from '../runner.ts';
import { probeByStarting } from '../probe-by-starting.ts';
import { controlGroupLayout } from './control-group.ts';
import { limitEnforcement } from './limit-enforcement.ts';
import { startDirect } from './start-direct.ts';
import { NAMESPACE_ADVICE, startNamespace } from './start-namespace.ts';
import { sweepLocal } from './sweep-local.ts';
import { createChannel } from '../../protocol/channel/channel.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';

const READY_MS = 60_000;

/** Options of {@link createLocalRunner}. */
export interface LocalRunnerOptions {
  /** Runtime bundle of the sandboxes. Default: the bundle of this copy of skillcell. */
  bundle?: RuntimeBundle;
}

const optionsSchema = z.strictObject({
  bundle: z.optional(bundleSchema),
}) as unknown as z.ZodMiniType<LocalRunnerOptions>;

/**
 * Creates the runner of local sandboxes: levels `namespace` and `none`.
 *
 * @throws SkillcellError `options.invalid`
 * @example
 * ```ts
 * import { createLocalRunner, createOrchestrator } from 'skillcell';
 *
 * await using orchestrator = createOrchestrator({ runners: [createLocalRunner()] });
 * const { isolation, stdout } = await orchestrator.exec({ code: 'console.log(6 * 7)' });
 * console.log(isolation, stdout.text.trim());
 * // prints: namespace 42
 * ```
 */
export function createLocalRunner(given: LocalRunnerOptions = {}): Runner {
  const options = checkOptions(optionsSchema, given, { action: 'create the local runner' });
  let bundle: Promise<RuntimeBundle> | undefined;
  const running = new Set<Sandbox>();
  let closed = false;

  const start = async (spec: SandboxSpec, { signal }: { signal: AbortSignal }): Promise<Sandbox> => {
    if (closed) throw new SkillcellError('orchestrator.closed', 'Cannot start a sandbox: the runner is closed.');
    if (spec.isolation !== 'none' && spec.isolation !== 'namespace') {
      throw new SkillcellError(
        'runner.isolation-unmet',
        `Cannot start a sandbox: the local runner reaches level namespace at most, got ${spec.isolation}.`,
      );
    }
    signal.throwIfAborted();
    bundle ??= options.bundle === undefined ? ensureRuntime() : Promise.resolve(options.bundle);
    const name = `${ownerName(currentOwner())}-${randomBytes(6).toString('hex')}`;
    const sandbox =
      spec.isolation === 'none'
        ? await startDirect(spec, await bundle, name)
        : await startNamespace(spec, await bundle, name);
    running.add(sandbox);
    void sandbox.exited.then(() => running.delete(sandbox));
    if (closed || signal.aborted) {
      await sandbox.kill('the start was canceled');
      signal.throwIfAborted();
    }
    return sandbox;
  };

  const probeLevel = (isolation: 'none' | 'namespace', signal: AbortSignal): Promise<RunnerReport> => {
    const limits = limitEnforcement(isolation, controlGroupLayout() !== null);
    const report = { runner: 'local', isolation, reasons: [], limits };
    return probeByStarting(
      report,
      (spec) => start(spec, { signal }),
      (sandbox) => awaitReady(sandbox, signal),
    );
  };

  return {
    name: 'local',
    contract: RUNNER_CONTRACT,
    levels: ['namespace', 'none'],
    advice: { namespace: NAMESPACE_ADVICE },
    start,
    async probe({ signal = new AbortController().signal } = {}) {
      return [await probeLevel('namespace', signal), await probeLevel('none', signal)];
    },
    sweep: (given) => sweepLocal(given?.signal),
    async close() {
      closed = true;
      await Promise.all([...running].map((sandbox) => sandbox.kill('the runner is closed')));
    },
    async [Symbol.asyncDispose]() {
      await this.close();
    },
  };
}

/** Waits until the entry of a new sandbox reports that it and its executor are ready. */
export async function awaitReady(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  createChannel(sandbox.channel, {
    onMessage: () => resolve(),
    onClose: () => void sandbox.exited.then(() => reject(failure(sandbox, 'it ended at once'))),
  });
  await withinDeadline(ready, {
    limitMs: READY_MS,
    overdue() {
      throw failure(sandbox, `it did not answer within ${READY_MS / 1000} s`);
    },
    signal,
  });
}

function failure(sandbox: Sandbox, reason: string): SkillcellError {
  const said = sandbox.complaint().trim();
  return new SkillcellError(
    'sandbox.start-failed',
    `Cannot start a sandbox: ${reason}${said === '' ? '' : `: ${said}`}.`,
  );
}
