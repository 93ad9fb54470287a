import { DEFAULT_LANGUAGE, type Language } from '../../contracts/jobs/language.ts';
import type { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { type EvalPlan, readEvalPlan } from './eval-plan.ts';
import { type EvalConsumer, type EvalSkills, evalSkills } from './eval-skills.ts';
import { programChecks, type RunProgram } from './program-check.ts';

/**
 * Finds a skill, and reads and checks its evals. Nothing is run.
 *
 * @param language language of the programs, if it is not the default of jobs
 * @param run runs the check programs later
 * @throws SkillcellError `eval.invalid`, or a `skills.` code for the reference
 */
export async function prepareEval(
  all: SkillsSubsystem,
  ref: string,
  who: EvalConsumer,
  language: Language | undefined,
  run: RunProgram,
): Promise<{ skills: EvalSkills; plan: EvalPlan }> {
  const skills = evalSkills(all, ref, who);
  const tree = all.skillTree(skills.skill.id);
  return {
    skills,
    plan: await readEvalPlan(skills.skill, tree, language ?? DEFAULT_LANGUAGE, programChecks(tree, run)),
  };
}
