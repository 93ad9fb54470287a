import * as z from 'zod/mini';
import type { InputContent, JobOptions } from '../../../contracts/jobs/job.ts';
import { LIMIT_CEILINGS } from '../../../contracts/jobs/limits.ts';
import { languageNames } from '../../../languages/languages.ts';
import type { McpServerSettings } from '../server-settings.ts';

/** Fields that calls share if they start a job or a session. The orchestrator checks the values in detail. */
export const languageField: z.ZodMiniType<string> = z
  .enum(languageNames())
  .check(z.describe('Language of the code. Default: javascript.'));
export const skillsField: z.ZodMiniType<string[]> = z
  .array(z.string().check(z.minLength(1), z.maxLength(300)))
  .check(z.maxLength(100), z.describe('Skills that it carries, by their ids of list_skills; they lie in $SKILLS_DIR.'));
export const filesField: z.ZodMiniType<Record<string, string | { base64: string }>> = z
  .record(
    z.string().check(z.minLength(1), z.maxLength(4_096)),
    z.union([z.string(), z.strictObject({ base64: z.base64() })], 'must be a text or { base64 }'),
  )
  .check(z.describe('Files in the working folder, by relative path: a text, or { base64 } for bytes.'));
export const expectField: z.ZodMiniType<string[]> = z
  .array(z.string().check(z.minLength(1), z.maxLength(4_096)))
  .check(
    z.maxLength(1_000),
    z.describe('Files that must be there afterwards, relative to the folder $SKILLCELL_OUTPUT, whose files come back.'),
  );
export const argsField: z.ZodMiniType<string[]> = z
  .array(z.string())
  .check(z.maxLength(1_000), z.describe('Arguments of the program.'));
export const envField: z.ZodMiniType<Record<string, string>> = z
  .record(z.string().check(z.minLength(1), z.maxLength(1_000)), z.string())
  .check(z.describe('Environment variables of the code; in a session for this run only.'));
export const timeoutField: z.ZodMiniType<number> = z
  .number()
  .check(
    z.int(),
    z.minimum(1),
    z.maximum(LIMIT_CEILINGS.runTimeoutMs),
    z.describe('How long the code may run, in milliseconds; no longer than the server allows.'),
  );

/** Fields of one call. */
export interface JobInput {
  skills?: string[] | undefined;
  files?: Record<string, string | { base64: string }> | undefined;
  args?: string[] | undefined;
  expect?: string[] | undefined;
  env?: Record<string, string> | undefined;
  timeoutMs?: number | undefined;
}

/** The job of a call, within the limits of the server. */
export function jobOf({ job, consumer }: McpServerSettings, input: JobInput, signal: AbortSignal): JobOptions {
  const { skills, files, args, expect, env, timeoutMs } = input;
  return {
    ...job,
    ...(files === undefined ? {} : { files: inputFiles(files) }),
    ...(args === undefined ? {} : { args }),
    ...(expect === undefined ? {} : { expect }),
    ...(env === undefined ? {} : { env: { ...job.env, ...env } }),
    limits: { ...job.limits, ...(timeoutMs === undefined ? {} : { runTimeoutMs: timeoutMs }) },
    skills: { refs: skills ?? [], consumer },
    signal,
  };
}

/** Files in the form of the library. */
export function inputFiles(files: NonNullable<JobInput['files']>): Record<string, InputContent> {
  const contents = Object.entries(files).map(([path, content]) => [path, contentOf(content)] as const);
  return Object.fromEntries(contents);
}

/** A text, or the bytes behind base64. */
export function contentOf(content: string | { base64: string }): string | Buffer {
  return typeof content === 'string' ? content : Buffer.from(content.base64, 'base64');
}
