import { join } from 'node:path';
import type { SkillsDescriptor } from '../src/contracts/descriptor.ts';
import type { Diagnostic } from '../src/contracts/diagnostic.ts';
import type { SkillTrees } from '../src/contracts/skill.ts';
import { verifyDescriptor } from '../src/skills/verify-descriptor.ts';
import { writeFileBelow } from './incoming-streams.ts';

/** Checks every byte that arrived against the descriptor. */
export function checkArrived(descriptor: SkillsDescriptor | null, trees: SkillTrees): Diagnostic[] {
  if (descriptor === null) return [];
  const { ok, diagnostics } = verifyDescriptor(descriptor, trees);
  return ok ? [] : diagnostics;
}

/** Writes the checked trees to the folder of skills, `<namespace>/<skill id>/…`, read-only. */
export function writeSkills(folder: string, trees: SkillTrees): void {
  for (const [id, tree] of trees) {
    const skillFolder = join(folder, id.replace('.', '/'));
    for (const [path, { bytes, executable }] of tree) writeFileBelow(skillFolder, { path, bytes, executable }, 0o555);
  }
}
