import { join } from 'node:path';
import type { SandboxJob } from '../../src/contracts/jobs/globals.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** A script of a skill. It runs in place. */
export interface SkillScript {
  /** The skill's folder. */
  folder: string;
  /** Path below it. */
  name: string;
  interpreter: string[];
}

/** The script of a job in the sandbox. */
export function skillScript(
  { skill, path, interpreter }: NonNullable<SandboxJob['script']>,
  { skills }: SandboxLayout,
): SkillScript {
  return { folder: join(skills, skill.replace('.', '/')), name: path, interpreter };
}

/** The variables of a script beside those of every program. */
export function scriptVariables(script: SkillScript, { output }: SandboxLayout): Record<string, string> {
  return { SKILL_DIR: script.folder, OUTPUT_DIR: output };
}
