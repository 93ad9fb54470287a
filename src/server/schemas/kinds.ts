import * as z from 'zod';
import type { KindForm } from '../../registry/kinds/kind-object.ts';

const fields = {
  apiVersion: z.string(),
  kind: z.enum(['Skill', 'Ghost', 'Bot', 'Team']),
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    labels: z.object({ id: z.string(), user_id: z.string() }),
  }),
  spec: z.record(z.string(), z.unknown()),
  status: z
    .object({
      state: z.literal('AVAILABLE'),
      fileSize: z.int(),
      fileHash: z.string(),
      readOnly: z
        .boolean()
        .meta({ description: 'Whether the skill belongs to the package, and no request changes it.' }),
    })
    .optional(),
};

/** A skill, ghost, bot or team. */
export const kindFormSchema: z.ZodType<KindForm> = z
  .object(fields)
  .meta({ id: 'Kind' }) as unknown as z.ZodType<KindForm>;

/** A skill in the list of all that a user may load. */
export type UnifiedSkill = KindForm & { hidden: boolean };

export const unifiedSchema: z.ZodType<UnifiedSkill> = z
  .object({ ...fields, hidden: z.boolean().meta({ description: 'Whether an own skill of the same name hides it.' }) })
  .meta({ id: 'UnifiedSkill' }) as unknown as z.ZodType<UnifiedSkill>;

/** A part of a list, and the number of all. */
export const kindListSchema: z.ZodType<{ items: KindForm[]; total: number }> = z.object({
  items: z.array(kindFormSchema),
  total: z.int(),
});
