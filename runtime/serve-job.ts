import { rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { RuntimeGlobals } from '../src/contracts/globals.ts';
import type { Language } from '../src/contracts/job.ts';
import type { ResultSkills } from '../src/contracts/result.ts';
import type { SkillTrees } from '../src/contracts/skill.ts';
import type { Channel } from '../src/protocol/channel.ts';
import { ARTIFACT_STREAM, outputStreams, type SandboxMessage, type SandboxResult } from '../src/protocol/messages.ts';
import { writeTar, type TarFile } from '../src/protocol/tar.ts';
import type { CallPort } from './answer-calls.ts';
import { checkArrived, writeSkills } from './arrived-skills.ts';
import { collectArtifacts, type Collection } from './collect-output.ts';
import type { ExecutorProcess } from './executor-process.ts';
import type { Privileges } from './privileges.ts';
import { ownUsage } from './own-usage.ts';
import { runCode } from './run-code.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { SandboxLayout } from './sandbox-layout.ts';
import type { UserProcesses } from './user-processes.ts';

/** A job and the sandbox that serves it. */
export interface JobSurroundings {
  globals: RuntimeGlobals;
  layout: SandboxLayout;
  processes: UserProcesses;
  privileges: Privileges;
  marker: string;
  channel: Channel;
  calls: CallPort;
  canceled: AbortSignal;
  trees: SkillTrees;
  filesWritten: Promise<void>;
  stdin: Readable | undefined;
  /** An executor that has run nothing yet. */
  takeExecutor(language: Language): ExecutorProcess;
}

/** Serves the one job of this sandbox: checks its skills, runs it, sends what it left, and last its result. */
export async function serveJob(around: JobSurroundings): Promise<void> {
  const { globals, trees, channel } = around;
  const say = (message: SandboxMessage): void => channel.send(message);
  const faults = checkArrived(globals.SKILLS_DESCRIPTOR, trees);
  if (faults.length > 0) {
    const message = `Cannot run the job: the skills that arrived are not those that were sent, got ${faults[0]?.message ?? ''}`;
    return say({ type: 'fault', code: 'skills.digest-mismatch', message, diagnostics: faults });
  }
  if (globals.JOB.kind === 'codegen') {
    // The agent and the parsers of skills are loaded only by the jobs that need them.
    const { serveCodegen } = await import('./serve-codegen.ts');
    return await serveCodegen(around);
  }

  writeSkills(around.layout.skills, trees);
  await around.filesWritten;
  say({ type: 'skills', skills: unrenderedSkills(globals, trees) });
  const outcome = await runOnce(around, 1, globals.JOB.code ?? '', around.stdin);
  await sendOutputs(around, outcome, {});
}

/** One run of the job's program or of one that the agent wrote. Runs are numbered from 1. */
export async function runOnce(
  around: JobSurroundings,
  run: number,
  code: string,
  stdin: Readable | undefined,
): Promise<RunOutcome> {
  const { channel, globals, layout } = around;
  const job = globals.JOB;
  // What a failed attempt wrote is no output of the next one. None of its processes is left that could be in the way.
  if (run > 1) around.privileges.asUser(() => rmSync(layout.output, { recursive: true, force: true }));
  channel.send({ type: 'run', run } satisfies SandboxMessage);
  const streams = outputStreams(run);
  return await runCode(
    {
      executor: around.takeExecutor(job.language),
      code,
      fileName: programFileName(job.language, job.fileName),
      language: job.language,
      args: job.args,
      env: job.env,
      expect: job.expect,
      limits: job.limits,
      stdin,
      writers: { stdout: channel.openStream(streams.stdout), stderr: channel.openStream(streams.stderr) },
    },
    around,
  );
}

/** Sends the artifacts, then the result. */
export async function sendOutputs(
  around: JobSurroundings,
  outcome: RunOutcome,
  more: Partial<SandboxResult>,
): Promise<void> {
  const { channel, layout, globals } = around;
  const collection: Collection = { omitted: [], overLimit: false };
  const found = collectArtifacts(layout.output, globals.JOB.limits, collection);
  const next = (): IteratorResult<TarFile> => around.privileges.asUser(() => found.next());
  const first = next();
  if (first.done !== true) await writeTar(following(first.value, next), channel.openStream(ARTIFACT_STREAM));
  const result: SandboxResult = {
    outcome: outcome.outcome,
    ...(outcome.limit === undefined ? {} : { limit: outcome.limit }),
    exitCode: outcome.exitCode,
    signal: outcome.signal,
    stdoutBytes: outcome.stdout.bytes,
    stderrBytes: outcome.stderr.bytes,
    ...('value' in outcome ? { value: outcome.value } : {}),
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    omitted: collection.omitted,
    missing: outcome.missing,
    sources: globals.SOURCES_POOL,
    diagnostics: outcome.diagnostics,
    runMs: outcome.runMs,
    ...(layout.level === 'container' ? { usage: ownUsage() } : {}),
    ...more,
  };
  if (collection.overLimit && result.outcome === 'succeeded') {
    result.outcome = 'limit';
    result.limit = 'artifacts';
  }
  channel.send({ type: 'result', result } satisfies SandboxMessage);
}

function* following<T>(first: T, next: () => IteratorResult<T>): Generator<T> {
  yield first;
  for (let step = next(); step.done !== true; step = next()) yield step.value;
}

/** A job that renders nothing reports which skills arrived whole. */
function unrenderedSkills(globals: RuntimeGlobals, trees: SkillTrees): ResultSkills {
  const descriptor = globals.SKILLS_DESCRIPTOR;
  const digest = descriptor !== null && 'digest' in descriptor ? (descriptor.digest ?? null) : null;
  return { active: [...trees.keys()], digest, instructionSha256: null };
}

const EXTENSIONS: Record<Language, string> = { javascript: '.mjs', typescript: '.mts', python: '.py', bash: '.sh' };

/** The name of the user's file in the workspace: the caller's own, with an ending that fixes the language. */
function programFileName(language: Language, given: string | undefined): string {
  const base = (given ?? 'main').replace(/\.[^.]*$/, '') || 'main';
  return `${base}${EXTENSIONS[language]}`;
}
