import { type SkillsDescriptor } from '../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { SkillRoot, SkillTrees } from '../contracts/skills/skill.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { setProcessSkills } from './active-subsystem.ts';
import { checkDescriptor, isPortable } from './descriptor/check-descriptor.ts';
import { descriptorRoots } from './descriptor/descriptor-roots.ts';
import { loadArrived } from './load/load-arrived.ts';
import { loadRoots, type LoadMoreRoots, type PublishGrants } from './load/load-roots.ts';
import { checkPolicy } from './select/policy.ts';
import { SkillsSubsystem } from './subsystem.ts';
import { compareArrived } from './descriptor/verify-descriptor.ts';

export { getActiveSkillsSubsystem, runWithSkills } from './active-subsystem.ts';
export { SkillsSubsystem } from './subsystem.ts';
export { verifyDescriptor } from './descriptor/verify-descriptor.ts';

/** Where skills are loaded from. */
export interface SkillsSubsystemOptions {
  /** Folders of skills; precedence goes by kind. */
  roots?: SkillRoot[] | undefined;
  /** Adds its custom root, its policy and its overrides. */
  descriptor?: SkillsDescriptor | undefined;
  /** Absolute path that relative roots of the descriptor resolve against, unless it names its own. */
  bundleRoot?: string | undefined;
  /** Absolute path of the built-in skills; null and undefined for none. */
  builtinRoot?: string | null | undefined;
}

/** Further options of loading on the host. */
export interface LoadUncheckedOptions extends SkillsSubsystemOptions {
  /** Loads skills from other places than folders: from stores. */
  loadMore?: LoadMoreRoots | undefined;
  /** Returns a diagnostic when a skill whose bytes were read may not be loaded. */
  admit?: PublishGrants['admit'];
}

/**
 * Loads skills from disk, by options that are known to be well-formed.
 *
 * @param options roots and descriptor
 * @returns the subsystem; broken skills and missing roots are in its diagnostics
 * @throws SkillcellError `skills.descriptor-invalid` for a descriptor that isn't accepted
 * @throws SkillcellError `skills.root-missing` when the descriptor names a root that isn't there
 */
export function loadUnchecked(options: LoadUncheckedOptions = {}): SkillsSubsystem {
  return loadFromDisk(accepted(options.descriptor ?? {}), options);
}

/** Options of a rebuild, besides the descriptor. */
export interface SetSkillsDescriptorOptions extends Omit<SkillsSubsystemOptions, 'descriptor'> {
  /** Bytes by skill id, for the portable form. */
  arrived?: SkillTrees | undefined;
}

/**
 * Rebuilds a subsystem in another process and makes it the active one there, by options that are known to be
 * well-formed. The portable form takes the bytes that arrived and verifies all of them before it parses any; the other
 * forms load the folders that the descriptor names.
 *
 * @param descriptor anything that `SKILLS_DESCRIPTOR` may hold
 * @param options bytes or folders
 * @returns the subsystem
 * @throws SkillcellError `skills.digest-mismatch` when the bytes differ from the list of the descriptor
 * @throws SkillcellError `skills.descriptor-invalid` for a descriptor that isn't accepted, or without its bytes
 * @throws SkillcellError `skills.root-missing` when a named root isn't there
 */
export function setUnchecked(descriptor: unknown, options: SetSkillsDescriptorOptions = {}): SkillsSubsystem {
  const checked = accepted(descriptor);
  const portable = 'skills' in checked && checked.skills !== undefined;
  const subsystem = portable ? rebuild(checked, options.arrived) : loadFromDisk(checked, options);
  setProcessSkills(subsystem);
  return subsystem;
}

/**
 * Rebuilds a subsystem only from bytes that arrived, and makes it the active one. A sandbox verifies the skills of a
 * codegen job only here, so that no folder can replace them.
 *
 * @throws SkillcellError as {@link setUnchecked}
 */
export function rebuildSkills(descriptor: unknown, arrived: SkillTrees | undefined): SkillsSubsystem {
  const subsystem = rebuild(accepted(descriptor), arrived);
  setProcessSkills(subsystem);
  return subsystem;
}

function loadFromDisk(
  descriptor: SkillsDescriptor,
  options: Omit<LoadUncheckedOptions, 'descriptor'>,
): SkillsSubsystem {
  const { customSkillsRoot, bundleRoot, diagnostics } = descriptorRoots(descriptor, options.bundleRoot);
  if (diagnostics.length > 0) throw refusal('skills.descriptor-invalid', diagnostics);
  const roots: SkillRoot[] = [
    ...(typeof options.builtinRoot === 'string' ? [{ kind: 'builtin' as const, path: options.builtinRoot }] : []),
    ...(options.roots ?? []),
    ...(customSkillsRoot === null ? [] : [{ kind: 'custom' as const, path: customSkillsRoot }]),
  ];
  const overrides = [...(descriptor.overrides ?? [])];
  const agentsConfig = descriptor.agents_config ?? {};
  const customNamespaces = [...(descriptor.custom_namespaces ?? [])];
  const loaded = loadRoots(roots, { overrides, customNamespaces, admit: options.admit }, options.loadMore);
  if (customSkillsRoot !== null && loaded.missing.includes(roots.length - 1)) {
    const message = `Cannot load skills: the custom root is no folder, got ${JSON.stringify(customSkillsRoot)}.`;
    throw new SkillcellError('skills.root-missing', message, { diagnostics: loaded.diagnostics });
  }
  const unused = checkPolicy(
    agentsConfig,
    loaded.skills.map((skill) => skill.id),
  );
  return new SkillsSubsystem({
    skills: loaded.skills,
    diagnostics: [...loaded.diagnostics, ...unused],
    agentsConfig,
    overrides,
    customNamespaces,
    customSkillsRoot,
    bundleRoot,
    admitted: options.admit !== undefined,
  });
}

function rebuild(descriptor: SkillsDescriptor, arrived: SkillTrees | undefined): SkillsSubsystem {
  if (!isPortable(descriptor) || arrived === undefined) {
    const reason = arrived === undefined ? 'the bytes of its skills are missing' : 'it is not the portable form';
    const fields = Object.keys(descriptor).join(', ');
    const message = `Cannot rebuild skills from the descriptor: ${reason}, got the fields ${fields}.`;
    throw new SkillcellError('skills.descriptor-invalid', message);
  }
  const { ok, diagnostics } = compareArrived(descriptor, arrived);
  if (!ok) throw refusal('skills.digest-mismatch', diagnostics);
  const rebuilt = loadArrived(descriptor.skills, arrived);
  // A job's closure holds fewer skills than its policy names, so unused patterns are no fault here.
  return new SkillsSubsystem({
    ...rebuilt,
    agentsConfig: descriptor.agents_config,
    overrides: descriptor.overrides,
    customNamespaces: descriptor.custom_namespaces ?? [],
    customSkillsRoot: null,
    bundleRoot: null,
    trees: arrived,
  });
}

/** @throws SkillcellError `skills.descriptor-invalid` or `skills.digest-mismatch` when the value is refused */
export function accepted(value: unknown): SkillsDescriptor {
  const { descriptor, diagnostics } = checkDescriptor(value);
  if (descriptor !== undefined) return descriptor;
  const shape = diagnostics.some(({ code }) => code === 'descriptor.invalid' || code === 'descriptor.schema');
  throw refusal(shape ? 'skills.descriptor-invalid' : 'skills.digest-mismatch', diagnostics);
}

/** The error for a descriptor with findings. */
export function refusal(
  code: 'skills.descriptor-invalid' | 'skills.digest-mismatch',
  found: Diagnostic[],
): SkillcellError {
  const codes = [...new Set(found.map((finding) => finding.code))].join(', ');
  const message = `Cannot accept the skills descriptor (${codes}): ${found[0]?.message ?? 'it has faults.'}`;
  return new SkillcellError(code, message, { diagnostics: found });
}
