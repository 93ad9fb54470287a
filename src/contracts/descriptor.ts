import * as z from 'zod/mini';
import type { AgentsConfig, SkillFile } from './skill.ts';

/** Schema name of the descriptor that this version writes and reads. */
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

/** A skills descriptor in the full form; portable when `skills` is there and both roots are null. */
export interface FullDescriptor {
  schema: typeof DESCRIPTOR_SCHEMA;
  custom_skills_root: string | null;
  bundle_root: string | null;
  agents_config: AgentsConfig;
  overrides: string[];
  /** Namespaces besides `custom` that skills of the descriptor's root may have; the portable form lists those it needs. */
  custom_namespaces?: string[];
  skills?: Record<string, DescriptorSkill>;
  catalog?: { consumer: string | null; ids: string[]; digest: string };
  digest?: string;
}

/** Anything that `SKILLS_DESCRIPTOR` may hold. */
export type SkillsDescriptor = SeedDescriptor | FullDescriptor;

const digest = (): z.ZodMiniType<string> => z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));

const policy = (): z.ZodMiniType => {
  const patterns = z.optional(z.array(z.string()));
  return z.record(z.string(), z.strictObject({ enabled: patterns, disabled: patterns }));
};

const skill = (): z.ZodMiniType =>
  z.strictObject({
    version: z.nullable(z.string()),
    digest: digest(),
    files: z.array(
      z.strictObject({
        path: z.string(),
        digest: digest(),
        bytes: z.number().check(z.int(), z.nonnegative()),
        executable: z.boolean(),
      }),
    ),
  });

let seedSchema: z.ZodMiniType<SeedDescriptor> | undefined;
let fullSchema: z.ZodMiniType<FullDescriptor> | undefined;

/** Schema of {@link SeedDescriptor}, built at first use. A sandbox needs one of the two once, and building it takes longer than using it. */
export function seedDescriptorSchema(): z.ZodMiniType<SeedDescriptor> {
  return (seedSchema ??= z.strictObject({
    custom_skills_root: z.optional(z.nullable(z.string())),
    bundle_root: z.optional(z.nullable(z.string())),
    agents_config: z.optional(policy()),
    overrides: z.optional(z.array(z.string())),
    custom_namespaces: z.optional(z.array(z.string())),
  }) as unknown as z.ZodMiniType<SeedDescriptor>);
}

/** Schema of {@link FullDescriptor}, built at first use. */
export function fullDescriptorSchema(): z.ZodMiniType<FullDescriptor> {
  return (fullSchema ??= z.strictObject({
    schema: z.literal(DESCRIPTOR_SCHEMA),
    custom_skills_root: z.nullable(z.string()),
    bundle_root: z.nullable(z.string()),
    agents_config: policy(),
    overrides: z.array(z.string()),
    custom_namespaces: z.optional(z.array(z.string())),
    skills: z.optional(z.record(z.string(), skill())),
    catalog: z.optional(
      z.strictObject({ consumer: z.nullable(z.string()), ids: z.array(z.string()), digest: digest() }),
    ),
    digest: z.optional(digest()),
  }) as unknown as z.ZodMiniType<FullDescriptor>);
}
