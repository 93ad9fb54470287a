import * as z from 'zod';
import type { KindForm } from '../../registry/kinds/kind-object.ts';

/** A skill, ghost, bot or team. */
export const kindFormSchema: z.ZodType<KindForm> = z
  .object({
    apiVersion: z.string(),
    kind: z.enum(['Skill', 'Ghost', 'Bot', 'Team']),
    metadata: z.object({
      name: z.string(),
      namespace: z.string(),
      labels: z.object({ id: z.string(), user_id: z.string() }),
    }),
    spec: z.record(z.string(), z.unknown()),
    status: z.object({ state: z.literal('AVAILABLE'), fileSize: z.int(), fileHash: z.string() }).optional(),
  })
  .meta({ id: 'Kind' }) as unknown as z.ZodType<KindForm>;

/** A part of a list, and the number of all. */
export const kindListSchema: z.ZodType<{ items: KindForm[]; total: number }> = z.object({
  items: z.array(kindFormSchema),
  total: z.int(),
});
