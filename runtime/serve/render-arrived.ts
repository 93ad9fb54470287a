import type { SkillsDescriptor } from '../../src/contracts/skills/descriptor.ts';
import type { SandboxJob } from '../../src/contracts/jobs/globals.ts';
import type { ResultSkills } from '../../src/contracts/jobs/result.ts';
import type { SkillTrees, SourceRow } from '../../src/contracts/skills/skill.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { rebuildSkills } from '../../src/skills/load-subsystem.ts';

/** Skills that arrived, as a prompt has them. */
export interface RenderedSkills {
  text: string;
  skills: ResultSkills;
  /** The sources pool afterwards. */
  pool: SourceRow[];
}

/** Skills as they arrived, and which of them are wanted. */
export interface ArrivedSkills {
  descriptor: SkillsDescriptor;
  trees: SkillTrees;
  /** Full ids. */
  refs: string[];
  pool: readonly SourceRow[];
}

/** Rebuilds the subsystem from a descriptor, which verifies what arrived, and renders what is wanted, under the same policy as on the host. */
export function renderArrived(
  { skills }: SandboxJob,
  { descriptor, trees, refs, pool }: ArrivedSkills,
): RenderedSkills {
  const { consumer, variant, includeInternal } = skills;
  const block = rebuildSkills(descriptor, trees).buildSkillsInstructionBlock({
    refs,
    consumer,
    variant,
    includeInternal,
    pool,
  });
  const refused = block.rows.find((row) => row.status === 'unknown' || row.status === 'denied');
  if (refused !== undefined) {
    throw new SkillcellError(
      'skills.reference-denied',
      `Cannot load a skill in the sandbox: ${refused.status}, got ${refused.ref}.`,
    );
  }
  const digest = 'digest' in descriptor ? (descriptor.digest ?? null) : null;
  return {
    text: block.text,
    skills: { active: block.active, digest, instructionSha256: block.sha256 },
    pool: block.pool,
  };
}
