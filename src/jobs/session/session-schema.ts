import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import {
  MAX_SESSION_MS,
  RUN_CODE_BYTES,
  type SessionOptions,
  type SessionRunOptions,
} from '../../contracts/jobs/session.ts';
import { checkEnv, envSchema, invalid, sessionFields } from '../request/job-schema.ts';
import { languageSchema } from '../request/language-schema.ts';

const milliseconds = z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(MAX_SESSION_MS)));
const id = z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')));

const sessionSchema = z
  .strictObject({
    ...sessionFields,
    sessionId: id,
    resume: id,
    idleTimeoutMs: milliseconds,
    sessionTimeoutMs: milliseconds,
  })
  .check(
    z.refine(({ resume, sessionId }) => resume === undefined || sessionId === undefined, {
      path: ['sessionId'],
      error: 'must be left out beside resume, which names the session',
    }),
  );

const runSchema = z.strictObject({
  code: z.string().check(
    z.refine((text) => text.trim() !== '', 'must not be empty'),
    z.refine((text) => Buffer.byteLength(text) <= RUN_CODE_BYTES, `must have at most ${RUN_CODE_BYTES} bytes`),
  ),
  language: z.optional(languageSchema),
  env: z.optional(envSchema),
  timeoutMs: milliseconds,
  signal: z.optional(z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal')),
});

/** Options of a session, split into its own and the options of its job. */
export interface SplitOptions {
  own: Pick<SessionOptions, 'sessionId' | 'resume' | 'idleTimeoutMs' | 'sessionTimeoutMs'>;
  ofJob: Omit<SessionOptions, 'sessionId' | 'resume' | 'idleTimeoutMs' | 'sessionTimeoutMs'>;
}

/** Checks the options of a session; limits of the orchestrator are checked with its job. @throws SkillcellError `job.invalid` */
export function checkSession(given: SessionOptions): SplitOptions {
  checkOptions(sessionSchema, given, { action: 'open the session', whole: 'the session', code: 'job.invalid' });
  const { sessionId, resume, idleTimeoutMs, sessionTimeoutMs, ...ofJob } = given;
  if (ofJob.limits?.jobTimeoutMs !== undefined)
    throw invalid('limits.jobTimeoutMs must be left out: sessionTimeoutMs says how long a session lasts');
  return { own: { sessionId, resume, idleTimeoutMs, sessionTimeoutMs } as SplitOptions['own'], ofJob };
}

/** Checks one run of a session. @throws SkillcellError `job.invalid`, with the name of the field */
export function checkRun(code: string, options: SessionRunOptions): void {
  checkOptions(runSchema, { ...options, code }, { action: 'run the code', whole: 'the run', code: 'job.invalid' });
  checkEnv(options.env ?? {});
}
