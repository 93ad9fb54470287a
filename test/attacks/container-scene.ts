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
import { listOwnContainers } from '../fixtures/own-containers.ts';
import { reportOf } from './plainly.ts';

/** A job of an attack. */
export type AttackJob = Partial<Omit<ExecOptions, 'limits'>> & { code: string; limits?: Partial<JobLimits> };

/** Where an attack is tried: our containers, or ones that differ by one change. */
export interface ContainerScene extends AsyncDisposable {
  runner: Runner;
  orchestrator: Orchestrator;
  /** Whether a line of the containers is missing. Such a one is given this machine's own targets only: nothing may leave it. */
  weakened: boolean;
  /** A folder of the host, removed afterwards. */
  folder: string;
  /** Runs a job, Python unless it says otherwise, with short deadlines unless it says otherwise. */
  job(options: AttackJob): Promise<JobResult>;
  /** What a program made by `attempts` reports; how the job ended where it reports nothing. */
  report(code: string, options?: Partial<AttackJob>): Promise<Record<string, unknown>>;
  /** How a job ended, whether user code did it or we: its outcome, or the code of the error. */
  ending(options: AttackJob): Promise<string>;
  /** What the engine would be asked for; the name is a new one each time. */
  options(spec: SandboxSpec): CreateOptions;
  /** What the engine says of our containers that are there now. */
  inspected(): Promise<ContainerInspectInfo[]>;
}

/** Whether an attack was stopped, and what shows it. */
export interface Verdict {
  blocked: boolean;
  evidence: string;
}

/** An attack on a container. */
export interface ContainerAttack {
  /** Of the list of threats. */
  id: string;
  title: string;
  /** The changes of the container that let it through, by their name in `CONTAINER_CHANGES`. */
  opens: readonly string[];
  /** Takes many seconds in a container that does not stop it. */
  slow?: true;
  attempt(scene: ContainerScene): Promise<Verdict>;
}

/** Tries an attack; one that ends with an error of ours was not stopped by what should stop it. */
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
  // Cases leave containers for the sweeps that they ask for themselves.
  const orchestrator = createOrchestrator({ runners: [runner], concurrency: 8, sweepIntervalMs: 0 });
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
        // A program that was stopped on its way has written no whole report.
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
      // One that its owner removes just now is listed, and gone when it is asked for.
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

/** Blocked when every value is one of the refusals. */
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

/** A server of the host that says a word to whoever connects. */
export async function listening(options: { host: string } | { path: string }): Promise<Server> {
  const server = createServer((socket) => {
    // Most of these only connect and leave.
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

/** The port of such a server, as a word for a program. */
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
