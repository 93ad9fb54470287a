import type { SandboxLimits } from '../../src/contracts/jobs/limits.ts';
import type { Isolation } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import type { Runner } from '../../src/sandboxes/runner.ts';
import type { Program, ProgramRun } from './program.ts';

const MIB = 1024 * 1024;
/** Ends programs that never end by themselves. */
const TIMEOUT_MS = 300_000;

/** Runs programs as jobs at one level. */
export interface JobLevel extends AsyncDisposable {
  readonly isolation: Isolation;
  run(program: Program): Promise<ProgramRun>;
}

/** The sandboxes that wait for programs: their languages, their number and their limits. */
export interface LevelOptions {
  languages: string[];
  /** Programs that run at the same time. */
  atOnce: number;
  /** Limits of the sandboxes that differ from a job's defaults. */
  limits?: Partial<SandboxLimits>;
}

/** Opens a level with warm sandboxes. */
export function openLevel(
  runner: Runner,
  isolation: Isolation,
  { languages, atOnce, limits = {} }: LevelOptions,
): JobLevel {
  const orchestrator = createOrchestrator({
    runners: [runner],
    allowUnisolated: true,
    concurrency: atOnce,
    pool: { size: atOnce, languages, isolation, limits },
  });
  return {
    isolation,
    run: (program) => runAsJob(orchestrator, isolation, limits, program),
    [Symbol.asyncDispose]: () => orchestrator.close(),
  };
}

async function runAsJob(
  orchestrator: Orchestrator,
  isolation: Isolation,
  limits: Partial<SandboxLimits>,
  program: Program,
): Promise<ProgramRun> {
  // The comparison is about programs in sandboxes that were started ahead.
  await orchestrator.warm();
  const { language, fileName, code, args, env, stdin, files } = program;
  const result = await orchestrator.exec({
    code,
    language,
    fileName,
    args,
    env,
    stdin: Buffer.from(stdin),
    files,
    isolation,
    limits: { ...limits, keptOutputBytes: 64 * MIB, runTimeoutMs: TIMEOUT_MS, jobTimeoutMs: 2 * TIMEOUT_MS },
  });
  const { outcome, exitCode, signal, stdout, stderr, artifacts } = result;
  if (outcome !== 'succeeded' && outcome !== 'failed') throw new Error(`the job ended as ${outcome}`);
  const contents = artifacts.map(async ({ path }) => {
    const bytes = await orchestrator.readArtifact(result, path);
    return [path, Buffer.from(bytes).toString('latin1')] as const;
  });
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode,
    signal,
    files: Object.fromEntries(await Promise.all(contents)),
  };
}
