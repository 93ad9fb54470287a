import type { DescriptorSkill, SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SkillTree, SkillTrees } from '../../contracts/skills/skill.ts';
import { checkDescriptor, isPortable } from './check-descriptor.ts';
import { digestOf } from '../text/digest.ts';

/** Result of a comparison. */
export interface Verification {
  ok: boolean;
  diagnostics: Diagnostic[];
}

/**
 * Compares the bytes that arrived with a portable descriptor: every listed file, its bytes, its executable bit, and no
 * other file. Needs no network and parses no skill. A descriptor that fails its own check is not compared.
 *
 * @param descriptor the portable descriptor, anything
 * @param arrived bytes by skill id and path
 * @returns whether all is as listed, with every difference
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { exportRuntimeGlobals, loadSkillsSubsystem, verifyDescriptor } from 'skillcell/skills';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const skills = loadSkillsSubsystem({ roots: [{ kind: 'user', path: 'skills' }] });
 * const { descriptor, trees } = exportRuntimeGlobals(skills, { refs: ['custom.units'], consumer: 'solver.codegen' });
 * console.log(verifyDescriptor(descriptor, trees).ok);
 * // prints: true
 * const { ok, diagnostics } = verifyDescriptor(descriptor, new Map());
 * console.log(ok, diagnostics.map(({ code }) => code));
 * // prints: false [ 'descriptor.file-missing' ]
 * ```
 */
export function verifyDescriptor(descriptor: unknown, arrived: SkillTrees): Verification {
  const checked = checkDescriptor(descriptor);
  if (checked.descriptor === undefined) return { ok: false, diagnostics: checked.diagnostics };
  return compareArrived(checked.descriptor, arrived);
}

/**
 * Compares the bytes that arrived with a descriptor that passed its own check.
 *
 * @param descriptor a checked descriptor
 * @param arrived bytes by skill id and path
 * @returns whether all is as listed, with every difference
 */
export function compareArrived(descriptor: SkillsDescriptor, arrived: SkillTrees): Verification {
  if (!isPortable(descriptor)) {
    const message = 'The descriptor is not the portable form: it lists no skills, or names folders of a host.';
    return { ok: false, diagnostics: [diagnostic('descriptor.invalid', message)] };
  }
  const listed = new Map(Object.entries(descriptor.skills));
  const diagnostics: Diagnostic[] = [];
  for (const [id, skill] of listed) diagnostics.push(...compareSkill(id, skill, arrived.get(id)));
  for (const [id, tree] of arrived) {
    if (!listed.has(id)) diagnostics.push(...extraFiles(id, [...tree.keys()]));
  }
  return { ok: diagnostics.length === 0, diagnostics };
}

function compareSkill(id: string, skill: DescriptorSkill, tree: SkillTree | undefined): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const { path, digest, bytes, executable } of skill.files) {
    const file = tree?.get(path);
    if (file === undefined) {
      found.push(diagnostic('descriptor.file-missing', `${id} lists a file that did not arrive: ${path}.`, { path }));
      continue;
    }
    if (file.bytes.length !== bytes || digestOf(file.bytes) !== digest) {
      found.push(diagnostic('descriptor.file-changed', `A file of ${id} has other bytes: ${path}.`, { path }));
    }
    if (file.executable !== executable) {
      const message = `A file of ${id} has another executable bit: ${path}.`;
      found.push(diagnostic('descriptor.file-mode', message, { path }));
    }
  }
  const listed = new Set(skill.files.map((file) => file.path));
  return [
    ...found,
    ...extraFiles(
      id,
      [...(tree?.keys() ?? [])].filter((path) => !listed.has(path)),
    ),
  ];
}

function extraFiles(id: string, paths: readonly string[]): Diagnostic[] {
  return paths.map((path) =>
    diagnostic('descriptor.file-extra', `A file arrived for ${id} that is not listed: ${path}.`, { path }),
  );
}
