import type { ScriptOptions } from '../../../contracts/jobs/job.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { jobOptions } from '../../options/job-options.ts';
import { networkFromFlags } from '../../options/network/network-from-flags.ts';
import { explainReference, jobSkills } from '../../options/skills/job-skills.ts';
import { mcpServersFromFlag } from '../../options/flags/mcp-flag.ts';
import { reportResult } from '../../job/report-result.ts';

/** `skillcell skills run`: runs a script that a skill ships. */
export async function runScript(context: CommandContext): Promise<number> {
  const { json, arguments: given } = context;
  const [skill = '', script = ''] = given.operands;
  const mcp = await mcpServersFromFlag(context);
  using network = await networkFromFlags(context);
  const { stdin: _none, args = [], ...options } = await jobOptions(context, false);
  const skills = await jobSkills(context, true);
  const { submitJob } = await import('../../job/submit-job.ts');
  const job: { kind: 'script' } & ScriptOptions = {
    kind: 'script',
    ...options,
    ...network.job,
    skill,
    script,
    args: [...args, ...given.rest],
  };
  try {
    const host = { mcp, ...network.host, ...(skills === undefined ? {} : { skills }) };
    const result = await submitJob(context, job, host, json ? 'drop' : 'forward');
    return await reportResult(context, result, options.output);
  } catch (error) {
    throw explainReference(error, [skill], skills);
  }
}
