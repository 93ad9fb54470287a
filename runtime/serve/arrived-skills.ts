import { join } from 'node:path';
import type { SkillsDescriptor } from '../../src/contracts/descriptor.ts';
import type { SkillTrees } from '../../src/contracts/skill.ts';
import { SkillcellError } from '../../src/contracts/skillcell-error.ts';
import { verifyDescriptor } from '../../src/skills/descriptor/verify-descriptor.ts';
import { writeFileBelow } from '../files/incoming-streams.ts';

/**
 * Checks every byte that arrived against the descriptor.
 *
 * @throws SkillcellError `skills.digest-mismatch`
 */
export function requireArrived(descriptor: SkillsDescriptor, trees: SkillTrees): void {
  const { ok, diagnostics } = verifyDescriptor(descriptor, trees);
  if (ok) return;
  const message = `Cannot run the job: the skills that arrived are not those that were sent, got ${diagnostics[0]?.message ?? ''}`;
  throw new SkillcellError('skills.digest-mismatch', message, { diagnostics });
}

/** Writes the checked trees to the folder of skills, `<namespace>/<skill id>/…`, read-only. */
export function writeSkills(folder: string, trees: SkillTrees): void {
  for (const [id, tree] of trees) {
    const skillFolder = join(folder, id.replace('.', '/'));
    for (const [path, { bytes, executable }] of tree) writeFileBelow(skillFolder, { path, bytes, executable }, 0o555);
  }
}
