import type { SkillsDescriptor } from '../../src/contracts/skills/descriptor.ts';
import type { SandboxJob } from '../../src/contracts/jobs/globals.ts';
import type { ResultSkills } from '../../src/contracts/jobs/result.ts';
import type { SkillTrees, SourceRow } from '../../src/contracts/skills/skill.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { rebuildSkills } from '../../src/skills/load-subsystem.ts';

/** The received skills as rendered for a prompt. */
export interface RenderedSkills {
  text: string;
  skills: ResultSkills;
  /** The sources pool after rendering. */
  pool: SourceRow[];
}

/** The received skills, and the selection of them to render. */
export interface ArrivedSkills {
  descriptor: SkillsDescriptor;
  trees: SkillTrees;
  /** Full ids. */
  refs: string[];
  pool: readonly SourceRow[];
}

/** Rebuilds the subsystem from a descriptor, which verifies the received files, and renders the selected skills under the same policy as the host. */
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
