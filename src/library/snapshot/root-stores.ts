import type { SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import type { RootKind } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { SkillStore } from '../../contracts/skills/store.ts';
import { descriptorRoots } from '../../skills/descriptor/descriptor-roots.ts';
import { existingFolder } from '../../skills/load/load-roots.ts';
import { accepted as acceptDescriptor, refusal } from '../../skills/load-subsystem.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../stores/directory/directory-store.ts';
import type { SkillLibraryOptions } from './skill-library.ts';

/** The roots of a library beside its stores. */
export interface LibraryRoots {
  /** Stores of the built-in folder and of the descriptor's folder, with their real paths. As stores, they are part of every look for changes. */
  paths: ReadonlyMap<SkillStore, string>;
  /** The descriptor's rules, without its folder. */
  rules: SkillsDescriptor;
  customSkillsRoot: string | null;
  bundleRoot: string | null;
}

/**
 * Opens the folders in the options of a library.
 *
 * @throws SkillcellError `skills.descriptor-invalid`; `skills.root-missing` where the descriptor's folder is missing
 */
export function openRoots(
  { descriptor, bundleRoot, builtinRoot }: Pick<SkillLibraryOptions, 'descriptor' | 'bundleRoot' | 'builtinRoot'>,
  cache: TreeCache,
): LibraryRoots {
  const given = acceptDescriptor(descriptor ?? {});
  const roots = descriptorRoots(given, bundleRoot);
  if (roots.diagnostics.length > 0) throw refusal('skills.descriptor-invalid', roots.diagnostics);
  const { customSkillsRoot } = roots;
  const paths = new Map<SkillStore, string>();
  const add = (kind: RootKind, path: string): boolean => {
    const real = existingFolder(path);
    paths.set(createDirectoryStore({ path, kind, cache }), real ?? path);
    return real !== undefined;
  };
  if (typeof builtinRoot === 'string') add('builtin', builtinRoot);
  if (customSkillsRoot !== null && !add('custom', customSkillsRoot)) {
    const message = `Cannot load skills: the custom root is no folder, got ${JSON.stringify(customSkillsRoot)}.`;
    throw new SkillcellError('skills.root-missing', message);
  }
  const { agents_config, overrides, custom_namespaces } = given;
  const rules = { agents_config, overrides, custom_namespaces } as SkillsDescriptor;
  return { paths, rules, customSkillsRoot, bundleRoot: roots.bundleRoot };
}
