import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import {
  loadUnchecked,
  setUnchecked,
  type SetSkillsDescriptorOptions,
  type SkillsSubsystemOptions,
} from './load-subsystem.ts';
import { validateFolders, type ValidatedSkill, type ValidateOptions } from './load/validate-folders.ts';
import type { SkillsSubsystem } from './subsystem.ts';

const path = z.string().check(z.minLength(1));
const places = {
  roots: z.optional(
    z.array(
      z.strictObject({
        kind: z.enum(['builtin', 'company', 'user', 'project', 'custom']),
        path,
        trusted: z.optional(z.boolean()),
      }),
    ),
  ),
  bundleRoot: z.optional(path),
  builtinRoot: z.optional(z.nullable(path)),
};
// A descriptor has checks and codes of its own.
const loadSchema = z.strictObject({ ...places, descriptor: z.optional(z.unknown()) });
const arrived = z.custom((value) => value instanceof Map, 'must be a Map of trees by skill id');
const setSchema = z.strictObject({ ...places, arrived: z.optional(arrived) });
const validateSchema = z.strictObject({ strict: z.optional(z.boolean()) });

/**
 * Loads skills from disk.
 *
 * @param options roots and descriptor
 * @returns the subsystem; broken skills and missing roots are in its diagnostics
 * @throws SkillcellError `options.invalid`
 * @throws SkillcellError `skills.descriptor-invalid` for a descriptor that isn't accepted
 * @throws SkillcellError `skills.root-missing` when the descriptor names a root that isn't there
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { loadSkillsSubsystem } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * console.log(skills.visible().map(({ id }) => id));
 * // prints: [ 'custom.units' ]
 * ```
 */
export function loadSkillsSubsystem(options: SkillsSubsystemOptions = {}): SkillsSubsystem {
  checkOptions(loadSchema, options, { action: 'load skills' });
  return loadUnchecked(options);
}

/**
 * Rebuilds a subsystem in another process and makes it the active one there. The portable form takes the bytes that
 * arrived and verifies all of them before it parses any; the other forms load the folders that the descriptor names.
 *
 * @param descriptor anything that `SKILLS_DESCRIPTOR` may hold
 * @param options bytes or folders
 * @returns the subsystem
 * @throws SkillcellError `options.invalid`
 * @throws SkillcellError `skills.digest-mismatch` when the bytes differ from the list of the descriptor
 * @throws SkillcellError `skills.descriptor-invalid` for a descriptor that isn't accepted, or without its bytes
 * @throws SkillcellError `skills.root-missing` when a named root isn't there
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { exportRuntimeGlobals, loadSkillsSubsystem, setSkillsDescriptor } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { descriptor, trees } = exportRuntimeGlobals(skills, { refs: ['custom.units'], consumer: 'solver.codegen' });
 * // In another process, which has received both:
 * const rebuilt = setSkillsDescriptor(descriptor, { arrived: trees });
 * console.log(rebuilt.skills.map(({ id }) => id));
 * // prints: [ 'custom.units' ]
 * ```
 */
export function setSkillsDescriptor(descriptor: unknown, options: SetSkillsDescriptorOptions = {}): SkillsSubsystem {
  checkOptions(setSchema, options, { action: 'set the skills descriptor' });
  return setUnchecked(descriptor, options);
}

/**
 * Validates a skill folder, or every skill folder below a folder.
 *
 * @param folder a skill folder or a root
 * @param options the rules to apply
 * @returns one row a skill folder; one row with `skill.missing` when there is no skill folder
 * @throws SkillcellError `options.invalid`
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { validateSkills } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * for (const { path, valid, id } of validateSkills('skills', { strict: true })) console.log(path, valid, id);
 * // prints: skills/units true custom.units
 * ```
 */
export function validateSkills(folder: string, options: ValidateOptions = {}): ValidatedSkill[] {
  checkOptions(path, folder, { action: 'validate skills', whole: 'the path' });
  checkOptions(validateSchema, options, { action: 'validate skills' });
  return validateFolders(folder, options);
}
