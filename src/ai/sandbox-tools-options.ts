import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import type { JobOptions } from '../contracts/jobs/job.ts';
import type { Language } from '../contracts/jobs/language.ts';
import { DEFAULT_CONSUMER } from '../contracts/jobs/job.ts';
import { DEFAULT_LANGUAGE } from '../contracts/jobs/language.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Session } from '../contracts/jobs/session.ts';
import { DEFAULT_TOOL_BUDGET } from '../tools/declarations/tool-stubs.ts';
import { consumerSchema, jobFields } from '../jobs/request/job-schema.ts';
import { languageSchema } from '../jobs/request/language-schema.ts';

/** Characters of each part of an output that a model sees. */
const DEFAULT_OUTPUT_CHARACTERS = 16_000;

/** Options of `createSandboxTools`. Options of jobs apply to each program. */
export interface SandboxToolsOptions extends Pick<
  JobOptions,
  'runner' | 'isolation' | 'files' | 'env' | 'limits' | 'network' | 'secrets' | 'packages' | 'context'
> {
  /** Language of programs. @default 'javascript' */
  language?: Language;
  /** Skills whose files lie in the sandbox of each program, by reference. @default none */
  skills?: string[];
  /** The consumer whose policy applies to skills. @default 'solver.codegen' */
  consumer?: string;
  /** Tools of the orchestrator that programs may call, by id or pattern, and further tools by `defineTool`. @default none */
  tools?: NonNullable<JobOptions['tools']>;
  /**
   * `always`: the orchestrator's `approve` is asked for each call of a tool that is bound to `run_code`. The SDK does not tell `run_code` about
   * `toolApproval`, which therefore stops none of these calls. @default `approve` is asked for tools with `needsApproval`
   */
  approval?: 'always';
  /**
   * `false`: each program has a sandbox of its own. `true`: all programs run in one session, which is opened for the first one and ends with the tools;
   * definitions of one program are visible to the next. A session: programs run in it, and the caller who opened it ends it. @default false
   */
  session?: boolean | Session;
  /** Whether the model sees pictures that programs display in a session. Its service must accept pictures from tools. @default false */
  images?: boolean;
  /** Characters that the model sees of each of a program's outputs, its value, an instruction or a file. @default 16,000 */
  outputCharacters?: number;
  /** Tokens that the declarations of tools may take in the description of `run_code`. @default 4,000 */
  toolBudgetTokens?: number;
}

/** Options with their defaults. */
export type SandboxToolsSettings = SandboxToolsOptions &
  Required<
    Pick<
      SandboxToolsOptions,
      'language' | 'skills' | 'consumer' | 'tools' | 'session' | 'images' | 'outputCharacters' | 'toolBudgetTokens'
    >
  >;

const { runner, isolation, files, env, limits, network, secrets, packages, tools, context } = jobFields;
const whole = z.optional(z.number().check(z.int(), z.minimum(200), z.maximum(1_000_000)));
const isSession = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'run') === 'function';

const ACTION = 'create tools of a sandbox';
/** Options that a session has from its opening on. */
const OF_SESSION = [
  ...(['runner', 'isolation', 'files', 'env', 'limits', 'network', 'secrets', 'packages'] as const),
  ...(['context', 'tools', 'skills', 'approval'] as const),
];

const optionsSchema = z.strictObject({
  ...{ runner, isolation, files, env, limits, network, secrets, packages, tools, context },
  language: z.optional(languageSchema),
  skills: z.optional(z.array(z.string())),
  consumer: z.optional(consumerSchema),
  approval: z.optional(z.literal('always')),
  session: z.optional(
    z.union([z.boolean(), z.custom(isSession)], 'must be true, false, or a session by orchestrator.session()'),
  ),
  images: z.optional(z.boolean()),
  outputCharacters: whole,
  toolBudgetTokens: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(1_000_000))),
});

/**
 * Checks the options of tools, and fills in the defaults.
 *
 * @throws SkillcellError `options.invalid`, naming the field
 */
export function readSandboxToolsOptions(given: SandboxToolsOptions): SandboxToolsSettings {
  checkOptions(optionsSchema, given, { action: ACTION });
  const fixed = isSession(given.session) ? OF_SESSION.find((name) => given[name] !== undefined) : undefined;
  if (fixed !== undefined)
    throw new SkillcellError(
      'options.invalid',
      `Cannot ${ACTION}: ${fixed} must be left out, because the given session has its own.`,
    );
  return {
    ...given,
    language: given.language ?? DEFAULT_LANGUAGE,
    skills: given.skills ?? [],
    consumer: given.consumer ?? DEFAULT_CONSUMER,
    tools: given.tools ?? [],
    session: given.session ?? false,
    images: given.images ?? false,
    outputCharacters: given.outputCharacters ?? DEFAULT_OUTPUT_CHARACTERS,
    toolBudgetTokens: given.toolBudgetTokens ?? DEFAULT_TOOL_BUDGET,
  };
}
