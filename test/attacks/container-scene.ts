import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerInspectInfo } from 'dockerode';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { containerOptions } from '../../src/sandboxes/docker/container-options.ts';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import type { Runner, SandboxSpec } from '../../src/sandboxes/runner.ts';
import { changedRunner, type ContainerChange, type CreateOptions } from '../fixtures/changed-container.ts';
import { dockerImage } from '../fixtures/docker-image.ts';
import { BY_FLEET, fleetOfTests } from '../fixtures/fleet/fleet-of-tests.ts';
import { listOwnContainers } from '../fixtures/own-containers.ts';
import { reportOf } from './plainly.ts';

/** A job of an attack. */
export type AttackJob = Partial<Omit<ExecOptions, 'limits'>> & { code: string; limits?: Partial<JobLimits> };

/** The containers of an attack: the production ones, or ones with one change. */
export interface ContainerScene extends AsyncDisposable {
  runner: Runner;
  orchestrator: Orchestrator;
  /** Whether a line of the containers is missing. Such containers get only targets on this machine, so that no packet leaves it. */
  weakened: boolean;
  /** A folder of the host, removed afterwards. */
  folder: string;
  /** Runs a job, in Python and with short deadlines by default. */
  job(options: AttackJob): Promise<JobResult>;
  /** The report of a program made by `attempts`; the end of the job if there is no report. */
  report(code: string, options?: Partial<AttackJob>): Promise<Record<string, unknown>>;
  /** The end of a job, by user code or by the host: its outcome, or the code of the error. */
  ending(options: AttackJob): Promise<string>;
  /** The options for the engine; the name is new each time. */
  options(spec: SandboxSpec): CreateOptions;
  /** The engine's data of the project's current containers. */
  inspected(): Promise<ContainerInspectInfo[]>;
}

/** Whether an attack was blocked, with the evidence. */
export interface Verdict {
  blocked: boolean;
  evidence: string;
}

/** An attack on a container. */
export interface ContainerAttack {
  /** From the list of threats. */
  id: string;
  title: string;
  /** The changes of the container that let it through, by their names in `CONTAINER_CHANGES`. */
  opens: readonly string[];
  /** Takes many seconds in a container that does not block it. */
  slow?: true;
  attempt(scene: ContainerScene): Promise<Verdict>;
}

/** Tries an attack. An attack that ends with an error of skillcell was not blocked by the tested line. */
export async function tryAttack(attack: ContainerAttack, change?: ContainerChange): Promise<Verdict> {
  await using scene = await openScene(change);
  try {
    return await attack.attempt(scene);
  } catch (error) {
    if (SkillcellError.isInstance(error))
      return { blocked: false, evidence: `${error.code}: ${error.message.slice(0, 300)}` };
    throw error;
  }
}

/** Opens a scene; without a change the containers are those of the runner itself. */
export async function openScene(change?: ContainerChange): Promise<ContainerScene> {
  const { bundle, engine, image, report } = await dockerImage();
  const runner = change === undefined ? createDockerRunner({ bundle }) : changedRunner(change);
  // Some cases leave containers for sweeps that they request themselves.
  const runners = [BY_FLEET && change === undefined ? (await fleetOfTests()).runner() : runner];
  const orchestrator = createOrchestrator({ runners, concurrency: 8, sweepIntervalMs: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'attack-'));
  const job = (options: AttackJob): Promise<JobResult> =>
    orchestrator.exec({
      language: 'python',
      isolation: 'container',
      ...options,
      limits: { runTimeoutMs: 15_000, graceMs: 500, ...options.limits },
    });
  return {
    runner,
    orchestrator,
    weakened: change !== undefined,
    folder,
    job,
    async report(code, options) {
      const result = await job({ code, ...options });
      try {
        return reportOf(result.stdout.text);
      } catch {
        // A program that was stopped early has no complete report.
        return { outcome: result.outcome, stderr: result.stderr.text.slice(-300) };
      }
    },
    async ending(options) {
      try {
        return (await job(options)).outcome;
      } catch (error) {
        if (SkillcellError.isInstance(error)) return error.code;
        throw error;
      }
    },
    options(spec) {
      const name = `skillcell-${randomBytes(8).toString('hex')}`;
      const owner = ownerName(currentOwner());
      const { appArmor } = report;
      const made = containerOptions(spec, { name, owner, image, runtime: undefined, appArmor }) as CreateOptions;
      change?.options?.(made);
      return made;
    },
    async inspected() {
      const rows = await listOwnContainers();
      // A container that its owner is just removing is listed, but no longer exists for the inspection.
      const gone = (error: Error & { statusCode?: number }): undefined => {
        if (error.statusCode !== 404) throw error;
        return undefined;
      };
      const found = await Promise.all(rows.map(({ Id }) => engine.getContainer(Id).inspect().catch(gone)));
      return found.filter((info) => info !== undefined);
    },
    async [Symbol.asyncDispose]() {
      await orchestrator.close();
      await runner.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Blocked if every value is a refusal. */
export function allRefused(report: Record<string, unknown>, refusal: RegExp): Verdict {
  const values = Object.values(report);
  return {
    blocked: values.length > 0 && values.every((value) => typeof value === 'string' && refusal.test(value)),
    evidence: Object.entries(report)
      .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(', ')
      .slice(0, 400),
  };
}

/** A server of the host that sends a text to every client. */
export async function listening(options: { host: string } | { path: string }): Promise<Server> {
  const server = createServer((socket) => {
    // Most programs only connect and leave.
    socket.on('error', () => undefined);
    socket.end('you reached the host');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if ('path' in options) server.listen(options.path, resolve);
    else server.listen(0, options.host, resolve);
  });
  return server;
}

/** The port of such a server, as text. */
export function portOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? `${address.port}` : '';
}

/** The host's address on the engine's own bridge, which containers of the bridge reach. */
export async function bridgeAddress(): Promise<string> {
  const { engine } = await dockerImage();
  const { IPAM } = (await engine.getNetwork('bridge').inspect()) as { IPAM?: { Config?: { Gateway?: string }[] } };
  return IPAM?.Config?.[0]?.Gateway ?? '172.17.0.1';
}
