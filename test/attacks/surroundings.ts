import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator, OrchestratorOptions } from '../../src/jobs/orchestrator.ts';
import { controlGroupLayout } from '../../src/sandboxes/local/control-group.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import type { Runner } from '../../src/sandboxes/runner.ts';
import { ensureRuntime } from '../../src/sandboxes/runtime-bundle.ts';
import { skipOrFail } from '../fixtures/describe-with.ts';
import { dockerImage, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { BY_FLEET, fleetOfTests } from '../fixtures/fleet/fleet-of-tests.ts';
import { ownContainers } from '../fixtures/own-containers.ts';
import { until } from '../fixtures/until.ts';
import { PYTHON, missingForBubblewrap } from '../sandboxes/seccomp/bubblewrap-run.ts';
import { awaitNothingLeft, sandboxProcesses } from './leftovers.ts';
import { watchSafety, type Safety } from './safety-watch.ts';

export type Level = 'namespace' | 'none' | 'container';

/** For cases that are the same at all levels: beliefs and data of the host. */
export const EVERY_LEVEL: Level[] = BY_FLEET ? ['namespace', 'container'] : ['namespace', 'none', 'container'];

/** The level of a row of a table that only the entry reads: it does so in the same way at every level, so the rows take turns. */
export function levelsInTurn(index: number): Level[] {
  return EVERY_LEVEL.filter((_, place) => place === index % EVERY_LEVEL.length);
}

/** Metadata of a case for the table of attacks. */
export interface AttackRow {
  id: string;
  title: string;
  level: Level | 'kernel' | 'host';
  evidence: string[];
  safety?: Safety;
}

declare module 'vitest' {
  interface TaskMeta {
    attack?: AttackRow;
  }
}

/** The context of a case. */
export interface Scene {
  level: Level;
  /** A folder of the host, removed afterwards. */
  folder: string;
  /** Runs a job at the case's level, with short deadlines by default. */
  job(options: Partial<ExecOptions> & { code: string; limits?: Partial<JobLimits> }): Promise<JobResult>;
  /** The orchestrator of `job`. */
  orchestrator: Orchestrator;
  /** A separate orchestrator for the case, closed afterwards. */
  ownOrchestrator(options: OrchestratorOptions): Orchestrator;
  /** Adds evidence to the table that the attack was tried and blocked. */
  evidence(line: string): void;
  /** Called once at the end with the state of the host. */
  onSafety(check: (safety: Safety) => void): void;
}

/** A requirement of a case on the machine. */
export type Need = 'python3' | 'cgroups' | 'root';

/** Options of {@link attack}. */
export interface AttackOptions {
  /** @default ['namespace'] */
  levels?: Level[];
  needs?: Need[];
  /** Only set above the default of 120,000. */
  timeoutMs?: number;
  /** Set where the case runs no further job at its level. */
  noJobAfter?: boolean;
  /** Set where the case is about sandboxes that this host itself starts: a fleet leaves it out. */
  ofThisHost?: boolean;
  /** MiB by which this process may grow, for example because its artifacts are kept. @default 128 */
  mayGrowMib?: number;
}

/** A busy machine delays every timer; a fault of these cases takes seconds. */
const MOST_LOOP_DELAY_MS = 1_500;
const GONE_MS = 30_000;
/** For a case that never ends; a busy machine needs many times the time of a quiet one. */
const TIMEOUT_MS = 120_000;

/** Runners for a level: containers are not local sandboxes. */
async function runnersOf(level: Level): Promise<{ runners?: Runner[] }> {
  if (BY_FLEET) return { runners: [(await fleetOfTests()).runner()] };
  return level === 'container' ? { runners: [createDockerRunner({ bundle: (await dockerImage()).bundle })] } : {};
}

const shared = new Map<string, Promise<Orchestrator>>();
function sharedOrchestrator(level: Level): Promise<Orchestrator> {
  const side = level === 'container' ? 'docker' : 'local';
  let made = shared.get(side);
  if (made === undefined) {
    // Some cases leave objects for sweeps that they request themselves.
    made = runnersOf(level).then((given) =>
      createOrchestrator({ allowUnisolated: true, concurrency: 8, sweepIntervalMs: 0, ...given }),
    );
    shared.set(side, made);
  }
  return made;
}

afterAll(async () => {
  for (const made of shared.values()) await (await made).close();
});

/**
 * One named attack, run once per level. In addition to its own checks, the outcome must be safe: this process responds and does not grow, no process,
 * group or folder is left, and the next job runs normally.
 */
export function attack(id: string, title: string, options: AttackOptions, body: (scene: Scene) => Promise<void>): void {
  for (const level of options.levels ?? ['namespace']) {
    // A fleet has no level none.
    if (BY_FLEET && (level === 'none' || options.ofThisHost === true)) continue;
    const name = `${id} ${title} [${level}]`;
    const missing = missingFor([...(options.needs ?? [])], level);
    if (missing !== undefined) {
      skipOrFail(name, missing);
      continue;
    }
    test(name, { timeout: Math.max(options.timeoutMs ?? 0, TIMEOUT_MS) }, async ({ task }) => {
      const row: AttackRow = { id, title, level, evidence: [] };
      task.meta.attack = row;
      const folder = await mkdtemp(join(tmpdir(), 'attack-'));
      const own: Orchestrator[] = [];
      const checks: ((safety: Safety) => void)[] = [];
      // Building the bundle starts a lasting process that does not belong to the case.
      await ensureRuntime();
      const orchestrator = await sharedOrchestrator(level);
      const known = new Set(sandboxProcesses());
      // Modules loaded by the first job do not count as growth.
      await expectFirstJob(level);
      const side = await runnersOf(level);
      const endWatch = watchSafety();
      const scene: Scene = {
        level,
        folder,
        orchestrator,
        job: (job) =>
          orchestrator.exec({
            language: 'python',
            isolation: level,
            ...job,
            limits: { runTimeoutMs: 15_000, graceMs: 500, ...job.limits },
          }),
        ownOrchestrator(given) {
          const made = createOrchestrator({ allowUnisolated: true, ...side, ...given });
          own.push(made);
          return made;
        },
        evidence: (line) => void row.evidence.push(line),
        onSafety: (check) => void checks.push(check),
      };
      try {
        await body(scene);
      } finally {
        row.safety = endWatch();
        await Promise.all(own.map((one) => one.close()));
        await rm(folder, { recursive: true, force: true });
      }
      const { left } = await awaitNothingLeft(GONE_MS, known);
      expect(left, 'leftovers of the case').toEqual([]);
      expect(row.safety.loopDelayMs, 'the event loop was held up').toBeLessThan(MOST_LOOP_DELAY_MS);
      expect(row.safety.grownMib, 'this process grew').toBeLessThan(options.mayGrowMib ?? 128);
      for (const check of checks) check(row.safety);
      if (options.noJobAfter !== true) await expectNextJob(level);
      await awaitNothingLeft(GONE_MS, known);
      if (level === 'container')
        await until(async () => (await ownContainers()).length === 0, 'an end of all containers');
    });
  }
}

const begun = new Set<Level>();

async function expectFirstJob(level: Level): Promise<void> {
  if (begun.has(level)) return;
  begun.add(level);
  await expectNextJob(level);
}

async function expectNextJob(level: Level): Promise<void> {
  const orchestrator = await sharedOrchestrator(level);
  const next = await orchestrator.exec({
    language: 'bash',
    isolation: level,
    code: 'echo "next: $(( 6 * 7 ))"',
  });
  expect(next, 'the next job').toMatchObject({
    outcome: 'succeeded',
    exitCode: 0,
    isolation: level,
    ...(BY_FLEET ? { runner: 'fleet' } : {}),
    stdout: { text: 'next: 42\n' },
    artifacts: [],
    omitted: [],
  });
}

let bubblewrap: { missing: string | undefined } | undefined;

function missingFor(needs: readonly Need[], level: Level): string | undefined {
  if (process.platform !== 'linux') return 'Linux';
  if (level === 'namespace') {
    bubblewrap ??= { missing: missingForBubblewrap() };
    if (bubblewrap.missing !== undefined) return bubblewrap.missing;
  }
  if (level === 'container' && MISSING_ENGINE !== undefined) return MISSING_ENGINE;
  if (!existsSync(PYTHON)) return PYTHON;
  if (needs.includes('cgroups') && controlGroupLayout() === null) return 'control groups of its own';
  if (needs.includes('root') && process.getuid?.() !== 0) return 'uid 0';
  return undefined;
}
