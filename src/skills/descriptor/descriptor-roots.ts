import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';

/** The folders that a descriptor means. */
export interface DescriptorRoots {
  /** The named custom root, else `<bundle root>/skills` where it exists, else null. */
  customSkillsRoot: string | null;
  bundleRoot: string | null;
  diagnostics: Diagnostic[];
}

/**
 * Finds the folders of a descriptor. A relative root lies in the bundle.
 *
 * @param descriptor a checked descriptor
 * @param bundle root of the bundle, when the descriptor names none or a relative one
 * @returns the folders; a named root needn't exist
 */
export function descriptorRoots(descriptor: SkillsDescriptor, bundle: string | undefined): DescriptorRoots {
  const named = givenPath(descriptor.bundle_root);
  const bundleRoot = named === undefined ? bundle : absolute(named, bundle);
  const custom = givenPath(descriptor.custom_skills_root);
  if (named !== undefined && bundleRoot === undefined) return unresolved('bundle_root', named);
  if (custom === undefined) {
    const usual = bundleRoot === undefined ? undefined : join(bundleRoot, 'skills');
    const found = usual !== undefined && isFolder(usual) ? usual : null;
    return { customSkillsRoot: found, bundleRoot: bundleRoot ?? null, diagnostics: [] };
  }
  const customSkillsRoot = absolute(custom, bundleRoot);
  if (customSkillsRoot === undefined) return unresolved('custom_skills_root', custom);
  return { customSkillsRoot, bundleRoot: bundleRoot ?? null, diagnostics: [] };
}

/** A blank root names no folder; resolved, it would mean the whole bundle. */
function givenPath(path: string | null | undefined): string | undefined {
  return path === undefined || path === null || path.trim() === '' ? undefined : path;
}

function absolute(path: string, base: string | undefined): string | undefined {
  if (isAbsolute(path)) return path;
  return base === undefined ? undefined : resolve(base, path);
}

function unresolved(key: string, path: string): DescriptorRoots {
  const message = `${key} ${JSON.stringify(path)} is relative, and there is no bundle root to resolve it against.`;
  return {
    customSkillsRoot: null,
    bundleRoot: null,
    diagnostics: [diagnostic('descriptor.root-unresolved', message)],
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
