import * as z from 'zod/mini';
import { toolSchema } from '../../tools/define/tool.ts';
import type { CodegenOptions, ExecOptions, InputFile, JobOptions, ScriptOptions } from '../../contracts/jobs/job.ts';
import type { Language } from '../../contracts/jobs/language.ts';
import { SCRIPT_ARGUMENTS } from '../../contracts/jobs/limits.ts';
import type { TriggerSession } from '../../contracts/skills/matching.ts';
import { limitsSchema } from '../../contracts/jobs/limits-schema.ts';
import { ISOLATION_LEVELS } from '../../contracts/jobs/result.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { shownPathFault } from '../../protocol/files/shown-path.ts';
import { outputSchema } from './output-schema.ts';
import { languageSchema } from './language-schema.ts';

/** Maximum bytes of a program. */
export const MAX_CODE_BYTES: number = 4 * 1024 * 1024;
/** Maximum characters of a task. */
export const MAX_TASK_CHARACTERS = 1_000_000;
/** File name of a program. */
export const PROGRAM_NAME: RegExp = /^[\p{L}\p{N}_][\p{L}\p{N}._ -]{0,100}$/u;
const MAX_ENV_BYTES = 128 * 1024;
/** Linux limits each argument string to less than 128 KiB, and arguments and environment together to 2 MiB. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const MAX_ARGUMENTS_BYTES = 1024 * 1024;

/** A checked job; its files are a list. */
export type CheckedRequest = JobRequest & { files?: InputFile[] };

/** A job as a caller gives it. */
export type JobRequest =
  | ({ kind: 'exec' } & ExecOptions)
  | ({ kind: 'codegen' } & CodegenOptions)
  | ({ kind: 'script' } & ScriptOptions)
  | ({ kind: 'session'; language?: Language } & JobOptions);

const JOB_CHECK = { action: 'accept the job', whole: 'the job', code: 'job.invalid' } as const;

/** A text without NUL characters. */
export const noNul: z.ZodMiniString = z
  .string()
  .check(z.refine((text) => !text.includes('\0'), 'holds a NUL character'));
const relativePath = z.string().check(
  z.superRefine((path, context) => {
    const fault = shownPathFault(path);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `must be a relative path: ${fault}` });
  }),
);
/** Environment variables by name. {@link checkEnv} also looks at them as given. */
export const envSchema: z.ZodMiniType<Record<string, string>> = z.record(
  z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _')),
  noNul,
);
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes');
const source = z.string().check(z.minLength(1));
const content = z.union([z.string(), bytes, z.strictObject({ source })], 'must be a text, bytes or { source }');
/** The id of a consumer: a generator that loads skills. */
export const consumerSchema: z.ZodMiniString = z
  .string()
  .check(z.regex(/^[\p{L}\p{N}][\p{L}\p{N}._:-]{0,127}$/u, 'must be an id of letters, digits and . _ : -'));

const amount = z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(Number.MAX_SAFE_INTEGER)));

const session = z.custom<TriggerSession>(
  (value) => typeof (value as TriggerSession | null)?.turn === 'function',
  'must be a session by createTriggerSession()',
);
const match = z.union(
  [
    z.boolean(),
    z.strictObject({
      maxSkills: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(1_000))),
      session: z.optional(session),
    }),
  ],
  'must be true, false or { maxSkills, session }',
);

const common = {
  jobId: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _'))),
  runner: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  isolation: z.optional(z.enum(ISOLATION_LEVELS as unknown as [string, ...string[]])),
  files: z.optional(
    z.union(
      [
        z.record(relativePath, content),
        z.array(
          z.union(
            [
              z.strictObject({ destination: relativePath, bytes, executable: z.optional(z.boolean()) }),
              z.strictObject({ destination: relativePath, source }),
            ],
            'must be { destination, bytes, executable? } or { destination, source }',
          ),
        ),
      ],
      'must be an object of contents by destination',
    ),
  ),
  stdin: z.optional(content),
  args: z.optional(z.array(noNul).check(z.maxLength(10_000))),
  env: z.optional(envSchema),
  expect: z.optional(z.array(relativePath).check(z.maxLength(1_000))),
  limits: z.optional(limitsSchema),
  budget: z.optional(
    z.strictObject({ modelCalls: amount, inputTokens: amount, outputTokens: amount, toolCalls: amount }),
  ),
  skills: z.optional(
    z.strictObject({
      refs: z.optional(z.array(z.string())),
      consumer: z.optional(consumerSchema),
      variant: z.optional(z.enum(['full', 'compact'])),
      includeInternal: z.optional(z.boolean()),
      match: z.optional(match),
      pool: z.optional(z.array(z.record(z.string(), z.unknown()))),
    }),
  ),
  tools: z.optional(
    z
      .array(
        z.union(
          [z.string().check(z.minLength(1), z.maxLength(200)), toolSchema],
          'must be an id, a pattern, or a tool by defineTool()',
        ),
      )
      .check(z.maxLength(1_000)),
  ),
  network: z.optional(
    z
      .array(z.union([z.string(), z.looseObject({ host: z.string() })], 'must be a rule such as "api.example.com"'))
      .check(z.maxLength(100)),
  ),
  packages: z.optional(z.strictObject({ npm: z.optional(z.array(noNul)), pypi: z.optional(z.array(noNul)) })),
  secrets: z.optional(z.array(z.string().check(z.minLength(1), z.maxLength(200))).check(z.maxLength(100))),
  context: z.optional(z.unknown()),
  output: z.optional(noNul.check(z.minLength(1))),
  signal: z.optional(z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal')),
};
/** Fields of every kind of job, for callers that check some of them earlier. */
export const jobFields: Record<keyof JobOptions, z.ZodMiniType> = common;
const { stdin: _none, ...withoutStdin } = common;
const { args: _args, expect: _expect, output: _output, budget: _budget, jobId, ...ofSession } = withoutStdin;
const language = z.optional(languageSchema);
/** Fields that a session shares with every job. The id is not one of them: the session has its own field for it. */
export const sessionFields: Record<string, z.ZodMiniType> = { ...ofSession, language };
/** The text of a program. */
export const codeSchema: z.ZodMiniString = z.string().check(
  z.refine((text) => text.trim() !== '', 'must not be empty'),
  z.refine((text) => Buffer.byteLength(text) <= MAX_CODE_BYTES, `must have at most ${MAX_CODE_BYTES} bytes`),
);

const requestSchema = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('exec'),
      ...common,
      language,
      code: codeSchema,
      fileName: z.optional(z.string().check(z.regex(PROGRAM_NAME, 'must be a plain file name'))),
    }),
    z.strictObject({
      kind: z.literal('codegen'),
      ...common,
      language,
      task: z.string().check(
        z.refine((text) => text.trim() !== '', 'must not be empty'),
        z.maxLength(MAX_TASK_CHARACTERS),
      ),
      model: z.optional(z.string()),
      maxAttempts: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(20))),
      outputs: z.optional(
        z.strictObject({
          files: z.optional(z.array(relativePath).check(z.maxLength(1_000))),
          value: z.optional(outputSchema),
        }),
      ),
      dryRun: z.optional(z.boolean()),
      toolBudgetTokens: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(1_000_000))),
      select: z.optional(
        z.union(
          [z.boolean(), z.strictObject({ consumer: z.optional(consumerSchema), model: z.optional(z.string()) })],
          'must be true or { consumer?, model? }',
        ),
      ),
    }),
    z.strictObject({ kind: z.literal('script'), ...withoutStdin, skill: z.string(), script: z.string() }),
    z.strictObject({ kind: z.literal('session'), jobId, ...sessionFields }),
  ],
  'must be exec, codegen or script',
);

/**
 * Validates a job at the edge. Unknown fields are refused, so that a misspelt limit is never ignored.
 *
 * @throws SkillcellError `job.invalid`, with the name of the field and the allowed values
 */
export function checkRequest(request: unknown): CheckedRequest {
  const job = checkOptions(requestSchema, request, JOB_CHECK) as JobRequest;
  checkEnv((request as JobRequest).env ?? {});
  checkArguments(job.args ?? []);
  if (job.kind === 'codegen' && job.dryRun === true && (job.select ?? false) !== false)
    throw invalid('select needs a model, and a dry run asks none: leave out one of the two');
  if (job.kind === 'script') checkScriptArguments(job.args ?? []);
  const { files = {}, tools } = request as JobRequest;
  // Use the given tools, not the parsed copies: a tool may be an instance of a class.
  return { ...job, ...(tools === undefined ? {} : { tools }), files: fileList(files) };
}

function checkArguments(args: readonly string[]): void {
  const sizes = args.map((argument) => Buffer.byteLength(argument));
  const largest = Math.max(0, ...sizes);
  if (largest > MAX_ARGUMENT_BYTES) {
    throw invalid(`an argument in args must have at most ${MAX_ARGUMENT_BYTES} bytes, got ${largest}`);
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > MAX_ARGUMENTS_BYTES) {
    throw invalid(`args must have at most ${MAX_ARGUMENTS_BYTES} bytes in all, got ${total}`);
  }
}

/**
 * Checks the total size of environment variables, and refuses a name that a schema would silently drop.
 *
 * @param env as given by the caller
 * @throws SkillcellError `job.invalid`
 */
export function checkEnv(env: Readonly<Record<string, string>>): void {
  if (Object.hasOwn(env, '__proto__')) throw invalid('env cannot hold a variable of this name, got __proto__');
  const total = Object.entries(env).reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  if (total > MAX_ENV_BYTES) throw invalid(`env must have at most ${MAX_ENV_BYTES} bytes in all, got ${total}`);
}

function checkScriptArguments(args: readonly string[]): void {
  const { count, bytes: most } = SCRIPT_ARGUMENTS;
  if (args.length > count) throw invalid(`args of a script must have at most ${count} entries, got ${args.length}`);
  const total = args.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0);
  if (total > most) throw invalid(`args of a script must have at most ${most} bytes in all, got ${total}`);
}

/**
 * The files of a request as a list.
 *
 * @param files as given by the caller: the schema would silently drop a file named `__proto__`
 * @throws SkillcellError `job.invalid`
 */
export function fileList(files: NonNullable<JobRequest['files']>): InputFile[] {
  if (Array.isArray(files)) return files;
  return Object.entries(files).map(([destination, content]) => {
    if (destination === '__proto__') throw invalid(`files cannot hold a file of this name, got ${destination}`);
    if (typeof content === 'string') return { destination, bytes: Buffer.from(content) };
    return content instanceof Uint8Array ? { destination, bytes: content } : { destination, source: content.source };
  });
}

/** Whether a model decides on the job before it is asked for code. */
export function selects(request: CheckedRequest): request is CheckedRequest & { kind: 'codegen' } {
  return request.kind === 'codegen' && (request.select ?? false) !== false;
}

/** The error of an invalid job. */
export function invalid(reason: string): SkillcellError {
  return new SkillcellError('job.invalid', `Cannot accept the job: ${reason}.`);
}
