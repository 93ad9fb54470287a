import type { JobResult } from '../contracts/jobs/result.ts';
import type { EvalSkills } from './plan/eval-skills.ts';
import type { ObservedRequest } from './observe-model.ts';

/**
 * Gives the reason why a run does not count for its side: a run with the skill has it in every prompt, byte for byte, and in its sandbox; a run without it
 * has it in none. The report of the sandbox is compared with the block that the host rendered, and with the requests that the model really got.
 *
 * @returns undefined if the run counts
 */
export function sideFault(
  { skills, codegen }: Pick<JobResult, 'skills' | 'codegen'>,
  requests: readonly ObservedRequest[],
  withSkill: boolean,
  { skill, block }: Pick<EvalSkills, 'skill' | 'block'>,
): string | undefined {
  if (requests.length === 0) return 'no model was asked';
  const asked = new Set(requests.map(({ promptSha256 }) => promptSha256));
  const strange = codegen?.attempts.find(({ promptSha256 }) => !asked.has(promptSha256));
  if (strange !== undefined) return `the sandbox reports a prompt that no model got, ${strange.promptSha256}`;
  const holding = requests.filter(({ system }) => system.includes(block.text)).length;
  if (!withSkill) {
    if (holding > 0 || skills.active.includes(skill.id)) return `${skill.id} was there`;
    return skills.active.length === 0 ? undefined : `other skills were there, got ${skills.active.join(', ')}`;
  }
  if (!skills.active.includes(skill.id)) return `${skill.id} did not arrive in the sandbox`;
  if (skills.instructionSha256 !== block.sha256)
    return `the sandbox rendered other instructions than the host, got ${skills.instructionSha256}`;
  return holding === requests.length ? undefined : `${requests.length - holding} of its prompts lack ${skill.id}`;
}
