import { join } from 'node:path';
import type { SkillsDescriptor } from '../../src/contracts/skills/descriptor.ts';
import type { LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import type { SkillTrees } from '../../src/contracts/skills/skill.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { verifyDescriptor } from '../../src/skills/descriptor/verify-descriptor.ts';
import { fitFile, tellFitted } from '../run/fit-files.ts';
import { writeFileBelow } from '../files/incoming-streams.ts';
import { readLanguage } from '../languages/read-language.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';

/**
 * Checks every byte of the received skills against the descriptor.
 *
 * @throws SkillcellError `skills.digest-mismatch`
 */
export function requireArrived(descriptor: SkillsDescriptor, trees: SkillTrees): void {
  const { ok, diagnostics } = verifyDescriptor(descriptor, trees);
  if (ok) return;
  const message = `Cannot run the job: the received skills differ from the skills that the host sent: ${diagnostics[0]?.message ?? ''}`;
  throw new SkillcellError('skills.digest-mismatch', message, { diagnostics });
}

/** Writes checked skills in the form that the interpreter of the job's language reads, and notes the copies that differ. */
export function placeSkills({ globals, layout, found }: JobSurroundings, trees: SkillTrees): void {
  if (trees.size === 0) return;
  const language = readLanguage(layout.runtime, globals.JOB.language);
  found.push(...tellFitted(language, writeSkills(layout.skills, trees, language)));
}

/**
 * Writes the checked trees to the folder of skills, `<namespace>/<skill id>/…`, read-only.
 *
 * @param language language of the job; the line ends of its program files are fitted to its interpreter
 * @returns paths of the copies whose line ends differ, relative to the folder of skills
 */
export function writeSkills(folder: string, trees: SkillTrees, language: LanguageDefinition): string[] {
  const fitted: string[] = [];
  for (const [id, tree] of trees) {
    const skillFolder = id.replace('.', '/');
    for (const [path, file] of tree) {
      const { bytes, lines } = fitFile(language, path, file.bytes) ?? { bytes: file.bytes, lines: 0 };
      writeFileBelow(join(folder, skillFolder), { path, bytes, executable: file.executable }, 0o555);
      if (lines > 0) fitted.push(join(skillFolder, path));
    }
  }
  return fitted;
}
