import type { AgentsConfig, SkillFile } from './skill.ts';

/** Schema name of the descriptors of this version. */
export const DESCRIPTOR_SCHEMA = 'skillcell/skills-descriptor@1';

/** A skills descriptor in the seed's two-field form; everything is optional. */
export interface SeedDescriptor {
  custom_skills_root?: string | null;
  bundle_root?: string | null;
  agents_config?: AgentsConfig;
  overrides?: string[];
  /** Namespaces besides `custom` that skills of the descriptor's root may have. */
  custom_namespaces?: string[];
}

/** One skill in a portable descriptor. */
export interface DescriptorSkill {
  version: string | null;
  digest: string;
  files: SkillFile[];
}

/** A skills descriptor in the full form; portable if it has `skills` and both roots are null. */
export interface FullDescriptor {
  schema: typeof DESCRIPTOR_SCHEMA;
  custom_skills_root: string | null;
  bundle_root: string | null;
  agents_config: AgentsConfig;
  overrides: string[];
  /** Namespaces besides `custom` that skills of the descriptor's root may have; the portable form lists only the needed ones. */
  custom_namespaces?: string[];
  skills?: Record<string, DescriptorSkill>;
  catalog?: { consumer: string | null; ids: string[]; digest: string };
  digest?: string;
}

/** All forms of `SKILLS_DESCRIPTOR`. */
export type SkillsDescriptor = SeedDescriptor | FullDescriptor;
