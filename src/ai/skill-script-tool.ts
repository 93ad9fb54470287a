import { SCRIPT_LIMITS, type JobLimits } from '../contracts/jobs/limits.ts';
import type { Orchestrator } from '../jobs/orchestrator.ts';
import { jobOptions } from './job-options.ts';
import type { SandboxTools } from './sandbox-tools.ts';
import type { SandboxToolsSettings } from './sandbox-tools-options.ts';
import { declared, sdkTool } from './sdk-tool.ts';
import { shownJob } from './answers/shown-run.ts';
import { RUN_SKILL_SCRIPT } from '../tools/agent/skill-tools-table.ts';

/** Makes the tool that runs scripts of skills, each in a sandbox of its own. */
export function createSkillScriptTool(
  orchestrator: Orchestrator,
  settings: SandboxToolsSettings,
): Required<SandboxTools>['run_skill_script'] {
  const { consumer, limits = {}, outputCharacters } = settings;
  const options = jobOptions({ ...settings, limits: ofScript(limits) });
  return sdkTool({
    ...declared(RUN_SKILL_SCRIPT),
    description: `${RUN_SKILL_SCRIPT.forModels} Gives its end, its output, its value, its error and the files that it left.`,
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
