import * as z from 'zod/mini';
import { jobAnswer, jobAnswerSchema } from './job-answer.ts';
import { expectField, filesField, jobOf, languageField, skillsField, timeoutField } from './job-input.ts';
import { runJob } from './run-job.ts';
import type { ServerState } from './server-state.ts';
import { type ServerTool, serverTool } from './server-tool.ts';

const inputSchema = z.strictObject({
  task: z.string().check(z.minLength(1), z.maxLength(1_000_000), z.describe('What the program has to do.')),
  language: z.optional(languageField),
  skills: z.optional(skillsField),
  match: z.optional(
    z.boolean().check(z.describe('Whether skills that the task calls for by their triggers are carried as well.')),
  ),
  files: z.optional(filesField),
  expect: z.optional(expectField),
  maxAttempts: z.optional(
    z.number().check(z.int(), z.minimum(1), z.maximum(20), z.describe('Programs that may be tried. Default: 3.')),
  ),
  timeoutMs: z.optional(timeoutField),
});

/** `run_task`: the server's model writes a program for a task, which runs in a sandbox and is repaired. */
export function runTaskTool({ settings, store }: ServerState): ServerTool {
  const { orchestrator } = settings;
  return serverTool({
    name: 'run_task',
    title: 'Have code written and run',
    description:
      "Has the server's own model write a program for a task, with the instructions of the skills that are named, runs it in an isolated sandbox, and has it repaired when it fails.",
    input: inputSchema,
    output: jobAnswerSchema,
    // It asks a model, which is outside.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    async run({ task, language, match, maxAttempts, ...input }, { signal, progress }) {
      const { skills, ...job } = jobOf(settings, input, signal);
      const result = await runJob(
        orchestrator,
        {
          kind: 'codegen',
          ...job,
          task,
          skills: { ...skills, ...(match === undefined ? {} : { match }) },
          ...(language === undefined ? {} : { language }),
          ...(maxAttempts === undefined ? {} : { maxAttempts }),
        },
        progress,
      );
      return await jobAnswer(result, orchestrator, store);
    },
  });
}
