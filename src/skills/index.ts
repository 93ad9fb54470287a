/// <reference types="node" preserve="true" />
import '../contracts/require-node.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
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

export { type Catalog, takeCatalog } from './catalog/catalog.ts';
export type { BudgetSteps, CatalogFormat, CatalogLevel } from './catalog/catalog-entry.ts';
export type { WrittenCatalog } from './catalog/write-catalog.ts';
export { canonicalJson } from './text/canonical-json.ts';
export { digestOf } from './text/digest.ts';
export { exportRuntimeGlobals, type ExportedGlobals, type ExportJob } from './export-runtime-globals.ts';
export type { ReadRange, SkillFileContent } from './load/files/read-skill-file.ts';
export type * from './subsystem.ts';
export type { Call } from '../contracts/skills/store.ts';
export type * from '../contracts/skills/descriptor.ts';
export type { Diagnostic, DiagnosticCode, DiagnosticPlace, Severity } from '../contracts/errors/diagnostic.ts';
export type { ErrorCode, ErrorEntry } from '../contracts/errors/error-registry.ts';
export type * from '../contracts/skills/skill.ts';
export { loadSkillsSubsystem, setSkillsDescriptor, validateSkills } from './checked-loaders.ts';
export {
  getActiveSkillsSubsystem,
  runWithSkills,
  type SetSkillsDescriptorOptions,
  SkillsSubsystem,
  type SkillsSubsystemOptions,
  verifyDescriptor,
} from './load-subsystem.ts';
export type { Verification } from './descriptor/verify-descriptor.ts';
export { createTriggerSession } from './match/trigger-session.ts';
export type * from '../contracts/skills/matching.ts';
export type { ValidateOptions, ValidatedSkill } from './load/validate-folders.ts';

/**
 * Resolves references with their imports, by the active subsystem.
 *
 * @param refs references in request order
 * @param options the consumer, and the snapshot that short ids refer to
 * @returns the skills in load order, and one row a reference
 * @throws SkillcellError `skills.descriptor-invalid` when no subsystem is active
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { importSkillset, loadSkillsSubsystem, runWithSkills } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { rows } = runWithSkills(skills, () => importSkillset(['custom.units']));
 * console.log(rows);
 * // prints: [ { ref: 'custom.units', id: 'custom.units', status: 'loaded' } ]
 * ```
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
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { buildSkillsInstructionBlock, loadSkillsSubsystem, runWithSkills } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { text } = runWithSkills(skills, () => buildSkillsInstructionBlock({ refs: ['custom.units'] }));
 * console.log(text.includes('Give SI units.'));
 * // prints: true
 * ```
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
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { loadSkillsSubsystem, runWithSkills, skillsGalleryText } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { text } = runWithSkills(skills, () => skillsGalleryText({ format: 'markdown' }));
 * console.log(text.includes('custom.units'));
 * // prints: true
 * ```
 */
export function skillsGalleryText(options: GalleryOptions = {}): Gallery {
  return active().skillsGalleryText(options);
}

function active(): SkillsSubsystem {
  const subsystem = getActiveSkillsSubsystem();
  if (subsystem !== undefined) return subsystem;
  const message = 'Cannot use skills: no subsystem is active.';
  throw new SkillcellError('skills.descriptor-invalid', message, {
    hint: 'Call setSkillsDescriptor first, or run the code by runWithSkills.',
  });
}
export type { OwnCode } from '../contracts/errors/diagnostic-severities.ts';
export type { LibraryCode } from '../contracts/errors/library-severities.ts';
