import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { awaitReady } from '../../src/sandboxes/local/local-runner.ts';
import { controlGroupLayout } from '../../src/sandboxes/local/control-group.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import type { Runner, Sandbox } from '../../src/sandboxes/runner.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { changedNamespaceRunner, NAMESPACE_SPEC, type NamespaceChange } from '../fixtures/changed-namespace.ts';
import { missingForBubblewrap } from '../sandboxes/seccomp/bubblewrap-run.ts';
import type { AttackJob, Verdict } from './container-scene.ts';
import { sandboxProcesses } from './leftovers.ts';
import { lookAtSandbox, type SandboxView } from './namespace-look.ts';
import { reportOf } from './plainly.ts';

/** The part that this machine lacks to change a sandbox and to inspect its processes. */
export const MISSING_FOR_NAMESPACE_CHANGES: string | undefined =
  process.getuid?.() === 0
    ? (missingForBubblewrap() ?? (controlGroupLayout() === null ? 'control groups of its own' : undefined))
    : 'uid 0';

/** The sandboxes of an attack: the production ones at level namespace, or ones with a change. */
export interface NamespaceScene extends AsyncDisposable {
  runner: Runner;
  /** The change and the attack's own surroundings. */
  changes: readonly NamespaceChange[];
  /** Runs a job, in Python and with short deadlines by default. */
  job(options: AttackJob): Promise<JobResult>;
  /** The report of a program made by `attempts`. */
  report(code: string): Promise<Record<string, unknown>>;
  /** Starts a sandbox without a job, waits until its executor is ready, and gives the kernel's view of its processes. */
  look<T>(use: (view: SandboxView, sandbox: Sandbox) => T | Promise<T>): Promise<T>;
}

/** An attack on a sandbox at level namespace, or a check of the kernel's view of one. */
export interface NamespaceAttack {
  /** From the list of threats. */
  id: string;
  title: string;
  /** The changes that let it through, by their names in `NAMESPACE_CHANGES`. */
  opens: readonly string[];
  /** Set if the attack may also prevent the start of the sandbox; otherwise that would prove nothing. */
  starts?: true;
  /** The same for the production and the changed sandbox: a host that hands on more than it should. */
  host?: NamespaceChange;
  attempt(scene: NamespaceScene): Promise<Verdict>;
}

/** Tries an attack on the production sandboxes, or on sandboxes with a change. */
export async function tryNamespaceAttack(attack: NamespaceAttack, change?: NamespaceChange): Promise<Verdict> {
  const changes = [change, attack.host].filter((one) => one !== undefined);
  await using scene = openNamespaceScene(changes);
  try {
    return await attack.attempt(scene);
  } catch (error) {
    if (attack.starts !== true || !SkillcellError.isInstance(error)) throw error;
    return { blocked: false, evidence: `${error.code}: ${error.message.slice(0, 200)}` };
  }
}

/** Opens a scene; without a change the sandboxes are those of the runner itself. */
export function openNamespaceScene(changes: readonly NamespaceChange[]): NamespaceScene {
  const runner = changes.length === 0 ? createLocalRunner() : changedNamespaceRunner(changes);
  const orchestrator = createOrchestrator({ runners: [runner], concurrency: 4 });
  const job = (options: AttackJob): Promise<JobResult> =>
    orchestrator.exec({
      language: 'python',
      isolation: 'namespace',
      ...options,
      limits: { runTimeoutMs: 15_000, graceMs: 500, ...options.limits },
    });
  return {
    runner,
    changes,
    job,
    async report(code) {
      const result = await job({ code });
      try {
        return reportOf(result.stdout.text);
      } catch {
        // A program that was stopped early has no complete report.
        return { outcome: result.outcome, stderr: result.stderr.text.slice(-300) };
      }
    },
    async look(use) {
      const known = new Set(sandboxProcesses());
      const signal = AbortSignal.timeout(60_000);
      const sandbox = await runner.start(NAMESPACE_SPEC, { signal });
      try {
        await awaitReady(sandbox, signal);
        return await use(await viewOf(known, signal), sandbox);
      } finally {
        await sandbox.kill('the attack is over');
      }
    },
    async [Symbol.asyncDispose]() {
      await orchestrator.close();
      await runner.close();
    },
  };
}

/** The executor is ready shortly before the kernel shows its new program. */
async function viewOf(known: ReadonlySet<number>, signal: AbortSignal): Promise<SandboxView> {
  for (;;) {
    const view = lookAtSandbox(known);
    if (view !== undefined) return view;
    await pause(10, undefined, { signal });
  }
}

/** Blocked if all seen values are as expected. */
export function asExpected(seen: Record<string, unknown>, expected: Record<string, unknown>): Verdict {
  const names = [...new Set([...Object.keys(seen), ...Object.keys(expected)])];
  const wrong = names.filter((name) => JSON.stringify(seen[name]) !== JSON.stringify(expected[name]));
  return {
    blocked: wrong.length === 0,
    evidence: (wrong.length === 0 ? names : wrong)
      .map((name) => `${name} ${JSON.stringify(seen[name]) ?? 'missing'}`)
      .join(', ')
      .slice(0, 400),
  };
}
