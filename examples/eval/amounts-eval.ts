import { fileURLToPath } from 'node:url';
import type { EvaluateSkillOptions } from '../../src/evals/evaluate-skill.ts';
import { loadSkillsSubsystem } from '../../src/skills/index.ts';
import { officeSkills } from '../decision/questions.ts';

/** A skill to measure with its evals. */
export const amountsEval: Omit<EvaluateSkillOptions, 'model'> = {
  skills: loadSkillsSubsystem({ roots: [{ kind: 'user', path: officeSkills }] }),
  skill: 'custom.amounts',
};

/** The recorded conversations that replace a model if none is configured. */
export const amountsRecording: string = fileURLToPath(new URL('./recording.json', import.meta.url));
