import * as z from 'zod/mini';
import { SCRIPT_ARGUMENTS, SCRIPT_LIMITS, type JobLimits } from '../contracts/jobs/limits.ts';
import type { Orchestrator } from '../jobs/orchestrator.ts';
import { jobOptions } from './job-options.ts';
import type { SandboxTools } from './sandbox-tools.ts';
import type { SandboxToolsSettings } from './sandbox-tools-options.ts';
import { sdkTool } from './sdk-tool.ts';
import { shownJob } from './answers/shown-run.ts';
import { filePath, SKILL_FIELD, skillReference } from './skill-fields.ts';

/** Makes the tool that runs scripts of skills, each in a sandbox of its own. */
export function createSkillScriptTool(
  orchestrator: Orchestrator,
  settings: SandboxToolsSettings,
): Required<SandboxTools>['run_skill_script'] {
  const { consumer, limits = {}, outputCharacters } = settings;
  const options = jobOptions({ ...settings, limits: ofScript(limits) });
  return sdkTool({
    name: 'run_skill_script',
    description:
      "Runs a script that a skill ships, in a sandbox with the skill's folder as working folder, and gives how it ended, what it printed, its value, its error and the files that it left.",
    schema: z.strictObject({
      skill: skillReference,
      script: filePath,
      args: z.optional(z.array(z.string()).check(z.maxLength(SCRIPT_ARGUMENTS.count))),
    }),
    fields: {
      skill: SKILL_FIELD,
      script: "Path below the skill's folder, such as scripts/check.py.",
      args: 'Arguments of the command line.',
    },
    async execute({ skill, script, args = [] }, { abortSignal: signal }) {
      const aborted = signal === undefined ? {} : { signal };
      const result = await orchestrator.script({ ...options, skill, script, args, skills: { consumer }, ...aborted });
      return shownJob(result, outputCharacters);
    },
  });
}

/** Scripts have lower limits than programs. */
function ofScript(limits: Partial<JobLimits>): Partial<JobLimits> {
  const lowered = { ...limits };
  for (const name of Object.keys(SCRIPT_LIMITS) as (keyof typeof SCRIPT_LIMITS)[]) {
    const asked = limits[name];
    if (asked !== undefined) lowered[name] = Math.min(asked, SCRIPT_LIMITS[name]);
  }
  return lowered;
}
