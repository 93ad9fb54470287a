import { DESCRIPTOR_SCHEMA, type DescriptorSkill, type FullDescriptor } from '../../contracts/skills/descriptor.ts';
import type { AgentsConfig, Skill } from '../../contracts/skills/skill.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { descriptorDigest } from '../text/digest.ts';

/** The parts of a descriptor. */
export interface DescriptorParts {
  customSkillsRoot: string | null;
  bundleRoot: string | null;
  agentsConfig: AgentsConfig;
  overrides: readonly string[];
  /** Left out of the descriptor when there are none. */
  customNamespaces: readonly string[];
  catalog: Catalog;
}

/**
 * Makes the descriptor that loads the same skills from the same folders.
 *
 * @param parts roots, policy and the catalog to go along
 * @returns the full form with its digest
 */
export function makeDescriptor(parts: DescriptorParts): FullDescriptor {
  return seal({
    schema: DESCRIPTOR_SCHEMA,
    custom_skills_root: parts.customSkillsRoot,
    bundle_root: parts.bundleRoot,
    agents_config: parts.agentsConfig,
    overrides: [...parts.overrides],
    ...(parts.customNamespaces.length === 0 ? {} : { custom_namespaces: [...parts.customNamespaces] }),
    catalog: { consumer: parts.catalog.consumer, ids: [...parts.catalog.ids], digest: parts.catalog.digest },
  });
}

/**
 * Makes the portable descriptor. It names no path of the host; content travels beside it and is found by digest.
 *
 * @param parts policy and the catalog to go along; roots don't travel
 * @param skills the skills that travel, sorted by full id
 * @returns the portable form with its digest
 */
export function makePortableDescriptor(parts: DescriptorParts, skills: readonly Skill[]): FullDescriptor {
  const rooted = makeDescriptor({ ...parts, customSkillsRoot: null, bundleRoot: null });
  const { catalog, ...before } = rooted;
  const listed = Object.fromEntries(skills.map((skill) => [skill.id, listSkill(skill)]));
  return seal({ ...before, skills: listed, ...(catalog === undefined ? {} : { catalog }) });
}

function listSkill({ fields, digest, files }: Skill): DescriptorSkill {
  return { version: fields.version ?? null, digest, files: files.map((file) => ({ ...file })) };
}

function seal(descriptor: FullDescriptor): FullDescriptor {
  const { digest: _old, ...content } = descriptor;
  return { ...content, digest: descriptorDigest(content) };
}
