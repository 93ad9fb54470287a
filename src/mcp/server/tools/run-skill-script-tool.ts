import * as z from 'zod/mini';
import { SCRIPT_LIMITS } from '../../../contracts/jobs/limits.ts';
import { jobAnswer, jobAnswerSchema } from './job-answer.ts';
import { expectField, filesField, jobOf, skillsField, timeoutField } from './job-input.ts';
import { RUN_SKILL_SCRIPT, SCRIPT_FIELDS } from '../../../tools/agent/skill-tools-table.ts';
import { runJob } from './run-job.ts';
import type { McpServerSettings } from '../server-settings.ts';
import type { ServerState } from './server-state.ts';
import { type ServerTool, serverTool } from './server-tool.ts';

const inputSchema = z.strictObject({
  ...SCRIPT_FIELDS,
  files: z.optional(filesField),
  expect: z.optional(expectField),
  skills: z.optional(skillsField),
  timeoutMs: z.optional(timeoutField),
});

/** `run_skill_script`: a script that a skill ships, in a sandbox of its own. */
export function runSkillScriptTool({ settings, store }: ServerState): ServerTool {
  const { orchestrator } = settings;
  return serverTool({
    name: RUN_SKILL_SCRIPT.name,
    title: RUN_SKILL_SCRIPT.title,
    description: `${RUN_SKILL_SCRIPT.forModels} load_skill lists the scripts. Files for the script lie in $WORKSPACE; files in $OUTPUT_DIR come back as resources.`,
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
