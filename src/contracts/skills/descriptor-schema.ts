import * as z from 'zod/mini';
import { DESCRIPTOR_SCHEMA, type FullDescriptor, type SeedDescriptor } from './descriptor.ts';

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

/** Schema of {@link SeedDescriptor}, built at first use: a sandbox needs only one of the two schemas, and building is slower than parsing. */
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
