import * as z from 'zod/mini';
import { SCRIPT_ARGUMENTS, SCRIPT_LIMITS } from '../../../contracts/jobs/limits.ts';
import { jobAnswer, jobAnswerSchema } from './job-answer.ts';
import { argsField, expectField, filesField, jobOf, skillsField, timeoutField } from './job-input.ts';
import { runJob } from './run-job.ts';
import type { McpServerSettings } from '../server-settings.ts';
import type { ServerState } from './server-state.ts';
import { type ServerTool, serverTool } from './server-tool.ts';

const inputSchema = z.strictObject({
  skill: z
    .string()
    .check(z.minLength(1), z.maxLength(300), z.describe('The skill that ships the script, by its id of list_skills.')),
  script: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(4_096),
      z.describe("The script's path below the folder of the skill, such as scripts/check.py."),
    ),
  args: z.optional(argsField.check(z.maxLength(SCRIPT_ARGUMENTS.count))),
  files: z.optional(filesField),
  expect: z.optional(expectField),
  skills: z.optional(skillsField),
  timeoutMs: z.optional(timeoutField),
});

/** `run_skill_script`: a script that a skill ships, in a sandbox of its own. */
export function runSkillScriptTool({ settings, store }: ServerState): ServerTool {
  const { orchestrator } = settings;
  return serverTool({
    name: 'run_skill_script',
    title: 'Run a script of a skill',
    description:
      'Runs a script that a skill ships, in an isolated sandbox and in the folder of the skill, for at most 60 s; load_skill says which there are. ' +
      'The files that it gets lie in $WORKSPACE; what it leaves in $OUTPUT_DIR comes back as resources.',
    input: inputSchema,
    output: jobAnswerSchema,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ skill, script, ...input }, { signal, progress }) {
      const job = jobOf(withinScripts(settings), input, signal);
      const result = await runJob(orchestrator, { kind: 'script', ...job, skill, script }, progress);
      return await jobAnswer(result, orchestrator, store);
    },
  });
}

/** Limits of all jobs are no request of this one: they are lowered to the limits of scripts. */
function withinScripts(settings: McpServerSettings): McpServerSettings {
  const { limits } = settings.job;
  const lowered = { ...limits };
  for (const [name, most] of Object.entries(SCRIPT_LIMITS) as [keyof typeof SCRIPT_LIMITS, number][]) {
    const set = limits[name];
    if (set !== undefined) lowered[name] = Math.min(set, most);
  }
  return { ...settings, job: { ...settings.job, limits: lowered } };
}
