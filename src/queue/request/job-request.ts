import * as z from 'zod';
import type { CodegenOptions, ExecOptions, JobOptions, JobSkillsOptions } from '../../contracts/jobs/job.ts';
import { limitsSchema } from '../../contracts/jobs/limits-schema.ts';
import { ISOLATION_LEVELS, type Isolation } from '../../contracts/jobs/result.ts';
import { TEAM_SCHEMA, type TeamReference } from '../../registry/kinds/find-team.ts';
import { MOST_PACKAGES } from '../../contracts/network/job-packages.ts';
import { boundedList, boundedRecord } from './bounded.ts';
import { shownPathFault } from '../../protocol/files/shown-path.ts';

/** A text, or bytes as base64. */
export type RequestContent = string | { base64: string; executable?: boolean };

/** Fields of every kind of job. */
interface CommonFields extends Pick<
  JobOptions,
  'isolation' | 'env' | 'expect' | 'limits' | 'budget' | 'network' | 'packages' | 'secrets'
> {
  /** A name for people. */
  label?: string;
  /** Input files by their destination. */
  files?: Record<string, RequestContent>;
  skills?: Omit<JobSkillsOptions, 'includeInternal' | 'match'> & { match?: boolean | { maxSkills?: number } };
  /** Ids of tools, and patterns of ids. */
  tools?: string[];
}

/** A job as the service takes it. */
export type JobRequest =
  | ({ kind: 'exec'; args?: string[]; stdin?: RequestContent } & CommonFields &
      Pick<ExecOptions, 'code' | 'language' | 'fileName'>)
  | ({
      kind: 'codegen';
      args?: string[];
      stdin?: RequestContent;
      outputs?: { files?: string[]; value?: Record<string, unknown> };
      select?: boolean;
      team?: TeamReference;
    } & CommonFields &
      Pick<CodegenOptions, 'task' | 'language' | 'model' | 'maxAttempts' | 'dryRun' | 'toolBudgetTokens'>)
  | ({ kind: 'script'; args?: string[]; skill: string; script: string } & CommonFields);

const relativePath = z
  .string()
  .max(4_096, { abort: true })
  .refine((path) => shownPathFault(path) === undefined, 'must be a relative path without . and ..')
  .meta({ description: 'A path below the working folder.' });
const text = z.string().refine((value) => !value.includes('\0'), 'holds a NUL character');
/** Most files of one job; a form has as many parts at most. */
const MOST_FILES = 1_000;
/** Most environment variables of one job. */
const MOST_VARIABLES = 1_000;
const BASE64 = /^[0-9a-zA-Z+/]*={0,2}$/;
const names = boundedList(z.string().min(1).max(200), 1_000);

const shortText = text.min(1).max(2_000);
const networkRule = z.strictObject({
  host: shortText,
  port: z.int().min(1).max(65_535).optional(),
  scheme: z.enum(['https', 'http']).optional(),
  methods: boundedList(z.string().min(1).max(40), 40).optional(),
  paths: boundedList(shortText, 100).optional(),
});
const packageList = boundedList(shortText, MOST_PACKAGES);

/** The check of zod decodes the text, which takes its memory once more. */
const base64 = z
  .string()
  .refine((value) => value.length % 4 === 0 && BASE64.test(value), 'must be base64')
  .meta({ format: 'byte', contentEncoding: 'base64' });
const content = z.union([z.string(), z.strictObject({ base64, executable: z.boolean().optional() })]);

const common = {
  label: text.min(1).max(200).optional().meta({ description: 'A name for people, which lists can be filtered by.' }),
  isolation: z
    .enum(ISOLATION_LEVELS as [Isolation, ...Isolation[]])
    .optional()
    .meta({ description: 'The least isolation; never weaker than that of the service.' }),
  files: boundedRecord(relativePath, content, MOST_FILES)
    .optional()
    .meta({ description: 'Input files by their destination.' }),
  env: boundedRecord(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), text, MOST_VARIABLES)
    .optional()
    .meta({ description: 'Environment variables. Their values are not shown again.' }),
  expect: boundedList(relativePath, 1_000).optional(),
  limits: z.optional(limitsSchema),
  budget: z
    .strictObject({
      modelCalls: z.int().min(1).optional(),
      inputTokens: z.int().min(1).optional(),
      outputTokens: z.int().min(1).optional(),
      toolCalls: z.int().min(1).optional(),
    })
    .optional(),
  skills: z
    .strictObject({
      refs: names.optional(),
      consumer: z.string().min(1).max(128).optional(),
      variant: z.enum(['full', 'compact']).optional(),
      match: z.union([z.boolean(), z.strictObject({ maxSkills: z.int().min(1).max(1_000).optional() })]).optional(),
      pool: boundedList(z.record(z.string(), z.unknown()), 10_000).optional(),
    })
    .optional(),
  tools: names.optional(),
  network: boundedList(z.union([shortText, networkRule]), 100)
    .optional()
    .meta({ description: 'Places that the program may reach, within those of the service. By default none.' }),
  packages: z
    .strictObject({ npm: packageList.optional(), pypi: packageList.optional() })
    .optional()
    .meta({ description: 'Packages that are installed before the program, within those of the service.' }),
  secrets: boundedList(z.string().min(1).max(200), 100)
    .optional()
    .meta({ description: 'Names of secrets of the service, never values. Requests to their hosts carry them.' }),
};
const args = boundedList(text, 10_000).optional();
const stdin = content.optional();
const language = z.string().min(1).max(50).optional();

/** A job as the service takes it: no path of the host, no function, and nothing that only a process can hold. */
export const jobRequestSchema: z.ZodType<JobRequest> = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('exec'),
    ...common,
    args,
    stdin,
    language,
    code: z.string().min(1),
    fileName: z.string().min(1).max(101).optional(),
  }),
  z.strictObject({
    kind: z.literal('codegen'),
    ...common,
    args,
    stdin,
    language,
    task: z.string().min(1).max(1_000_000),
    model: z.string().min(1).max(200).optional(),
    maxAttempts: z.int().min(1).max(20).optional(),
    outputs: z
      .strictObject({
        files: boundedList(relativePath, 1_000).optional(),
        value: z.record(z.string(), z.unknown()).optional(),
      })
      .optional(),
    dryRun: z.boolean().optional(),
    toolBudgetTokens: z.int().min(1).max(1_000_000).optional(),
    select: z.boolean().optional().meta({ description: 'By default true for a job of a team, else false.' }),
    team: TEAM_SCHEMA.optional(),
  }),
  z.strictObject({
    kind: z.literal('script'),
    ...common,
    args,
    skill: z.string().min(1).max(200),
    script: z.string().min(1).max(1_000),
  }),
]) as unknown as z.ZodType<JobRequest>;

/** A job whose names are ids, which mean the same later. */
export type ResolvedRequest = JobRequest & {
  /** The last version of any skill at the submission: the job has no later one. */
  skillsUpTo?: number;
};

/** An input file of a job: its bytes are in the job's folder. */
export interface StoredFile {
  destination: string;
  executable: boolean;
  bytes: number;
  /** 64 hex digits. */
  sha256: string;
}

/** A job in its row: the bytes of files and of the standard input are in the job's folder, under `in/` and their number. */
export interface StoredRequest {
  job: ResolvedRequest;
  files: StoredFile[];
  stdin: Pick<StoredFile, 'bytes' | 'sha256'> | null;
}

/** A job in answers: its values of `env` are left out. */
export function shownRequest({
  job: { skillsUpTo: _skillsUpTo, ...job },
  files,
  stdin,
}: StoredRequest): Record<string, unknown> {
  return {
    ...job,
    ...(job.env === undefined ? {} : { env: Object.keys(job.env) }),
    files,
    stdin,
  };
}
