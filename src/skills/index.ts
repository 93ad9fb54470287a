import { SkillcellError } from '../contracts/skillcell-error.ts';
import { getActiveSkillsSubsystem } from './active-subsystem.ts';
import type {
  Gallery,
  GalleryOptions,
  InstructionBlock,
  RenderOptions,
  SelectionOptions,
  Skillset,
  SkillsSubsystem,
} from './subsystem.ts';

export { type Catalog, takeCatalog } from './catalog.ts';
export type { CatalogFormat, CatalogLevel } from './catalog-entry.ts';
export { canonicalJson } from './canonical-json.ts';
export { digestOf } from './digest.ts';
export { exportRuntimeGlobals, type ExportedGlobals, type ExportJob } from './export-runtime-globals.ts';
export type { ReadRange, SkillFileContent } from './read-skill-file.ts';
export type * from './subsystem.ts';
export {
  getActiveSkillsSubsystem,
  loadSkillsSubsystem,
  runWithSkills,
  setSkillsDescriptor,
  type SetSkillsDescriptorOptions,
  SkillsSubsystem,
  type SkillsSubsystemOptions,
  verifyDescriptor,
} from './skills-subsystem.ts';
export { createTriggerSession, type TriggerSession, type TriggerTurn } from './trigger-session.ts';
export type { MatchResult, SkillMatch } from './triggers.ts';
export { validateSkills, type ValidateOptions, type ValidatedSkill } from './validate-skills.ts';

/**
 * Resolves references with their imports, by the active subsystem.
 *
 * @param refs references in request order
 * @param options who asks, and the snapshot that short ids mean
 * @returns the skills in load order, and one row a reference
 * @throws SkillcellError `skills.descriptor-invalid` when no subsystem is active
 */
export function importSkillset(refs: readonly string[], options: SelectionOptions = {}): Skillset {
  return active().importSkillset(refs, options);
}

/**
 * Writes the `[ACTIVE SKILLS]` block, by the active subsystem.
 *
 * @param options references, consumer, variant and pool
 * @returns the block with its digest and the pool afterwards
 * @throws SkillcellError `skills.descriptor-invalid` when no subsystem is active
 */
export function buildSkillsInstructionBlock(options: RenderOptions & { refs: readonly string[] }): InstructionBlock {
  return active().buildSkillsInstructionBlock(options);
}

/**
 * Writes the catalog that a consumer is shown, by the active subsystem.
 *
 * @param options consumer, format and budget
 * @returns the text with the snapshot that its numbers mean
 * @throws SkillcellError `skills.descriptor-invalid` when no subsystem is active
 */
export function skillsGalleryText(options: GalleryOptions = {}): Gallery {
  return active().skillsGalleryText(options);
}

function active(): SkillsSubsystem {
  const subsystem = getActiveSkillsSubsystem();
  if (subsystem !== undefined) return subsystem;
  const message = 'Cannot use skills: no subsystem is active, got neither a descriptor nor a turn.';
  throw new SkillcellError('skills.descriptor-invalid', message, {
    hint: 'Call setSkillsDescriptor first, or run the code by runWithSkills.',
  });
}
