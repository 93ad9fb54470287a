import * as z from 'zod/mini';
import type { JobResult } from '../../../contracts/jobs/result.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Orchestrator } from '../../../jobs/orchestrator.ts';
import { artifactUri, jobUri } from '../resources/resource-uri.ts';
import { createLinkedContent, INLINE_CHARACTERS } from './linked-content.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { ToolAnswer } from './server-tool.ts';

const outputText = z.looseObject({ text: z.string(), bytes: z.number(), truncated: z.boolean() });

/** Fields of a program's end, which the results of jobs and of runs in sessions share. */
export const PROGRAM_FIELDS: Readonly<Record<string, z.core.$ZodType>> = {
  outcome: z
    .enum(['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled'])
    .check(z.describe('How the program ended.')),
  limit: z.optional(z.string()),
  exitCode: z.nullable(z.number()),
  signal: z.nullable(z.string()),
  value: z.optional(z.unknown()),
  stdout: outputText,
  stderr: outputText,
  error: z.optional(
    z.looseObject({ name: z.string(), message: z.string(), stack: z.string(), line: z.optional(z.number()) }),
  ),
};

/** A job's result for clients: the library's `JobResult`, with links in place of large parts. */
export const jobAnswerSchema: z.core.$ZodType = z.looseObject({
  jobId: z.string(),
  kind: z.enum(['exec', 'codegen', 'script', 'session']),
  runner: z.string(),
  isolation: z.string(),
  ...PROGRAM_FIELDS,
  artifacts: z.array(z.looseObject({ path: z.string(), bytes: z.number(), mediaType: z.string(), uri: z.string() })),
});

/** Writes a job's result for a client. Long outputs, values and programs, and all artifacts, become resources. */
export async function jobAnswer(
  result: JobResult,
  orchestrator: Orchestrator,
  store: ResourceStore,
): Promise<ToolAnswer> {
  const { jobId, value, stdout, stderr, calls, codegen, artifacts, sources, ...rest } = result;
  const linked = createLinkedContent(jobUri(jobId), store);
  const json = 'value' in result ? JSON.stringify(value) : undefined;
  const isLinked = json !== undefined && linked.text('value', json, 'application/json') !== undefined;
  const isTooLong = linked.text('sources', JSON.stringify(sources), 'application/json') !== undefined;
  const shown = {
    jobId,
    ...rest,
    stdout: linked.output('stdout', stdout),
    stderr: linked.output('stderr', stderr),
    ...(json === undefined || isLinked ? {} : { value }),
    calls: linked.calls(calls),
    ...(codegen === undefined ? {} : { codegen: { attempts: codegen.attempts.map(shortAttempt) } }),
    ...(isTooLong ? {} : { sources }),
    artifacts: artifacts.map((artifact) => ({ ...artifact, uri: artifactUri(jobId, artifact.path) })),
  };
  const last = codegen?.attempts.at(-1);
  if (last !== undefined) linked.text('program', last.code, 'text/plain');
  for (const { path, bytes, mediaType } of artifacts) {
    linked.link(path, artifactUri(jobId, path), mediaType, bytes);
    await linked.image(mediaType, bytes, () => readKept(orchestrator, result, path));
  }
  return { value: shown, content: linked.blocks, failed: result.outcome !== 'succeeded' };
}

/** Newer jobs may have taken the room: then only the link is left, and reading it says so. */
async function readKept(orchestrator: Orchestrator, result: JobResult, path: string): Promise<Buffer | undefined> {
  try {
    return await orchestrator.readArtifact(result, path);
  } catch (error) {
    if (SkillcellError.isInstance(error) && error.code === 'artifact.evicted') return undefined;
    throw error;
  }
}

type Attempt = NonNullable<JobResult['codegen']>['attempts'][number];

function shortAttempt({ code, files, ...attempt }: Attempt): Record<string, unknown> {
  const short = code.length <= INLINE_CHARACTERS;
  return { ...attempt, ...(short ? { code } : {}), ...(files === undefined ? {} : { files: files.map(pathOf) }) };
}

function pathOf({ path }: { path: string }): { path: string } {
  return { path };
}
