import * as z from 'zod';
import type { Referrer } from '../../registry/kinds/references.ts';
import type { KindForm } from '../../registry/kinds/kind-object.ts';
import type { SkillVersion } from '../../registry/skills/skill-versions.ts';
import type { SkillForm, UploadResult } from '../../registry/skills/upload-skill.ts';
import { type Problem } from '../http/problem.ts';
import { kindFormSchema } from './kinds.ts';
import { problemFields } from './common.ts';

const fileSchema = z.looseObject({ path: z.string(), bytes: z.int(), digest: z.string() });
const messageSchema = z.looseObject({ code: z.string(), severity: z.string(), message: z.string() });
const changeSchema = z.object({ path: z.string(), state: z.enum(['added', 'removed', 'changed']) });

/** The answer to an upload: the skill, and what its check has found. */
export interface UploadAnswer extends Pick<UploadResult, 'changes'> {
  /** Null for a dry run. */
  skill: KindForm | null;
  name: string;
  slug: string;
  digest: string;
  diagnostics: unknown[];
  findings: unknown[];
  files: unknown[];
}

export const uploadSchema: z.ZodType<UploadAnswer> = z
  .object({
    skill: kindFormSchema.nullable(),
    name: z.string(),
    slug: z.string(),
    digest: z.string(),
    diagnostics: z.array(messageSchema),
    findings: z.array(messageSchema),
    files: z.array(fileSchema),
    changes: z.array(changeSchema),
  })
  .meta({ id: 'Upload' });

export const versionSchema: z.ZodType<SkillVersion> = z
  .object({
    version: z.int(),
    fileSize: z.int(),
    fileHash: z.string(),
    digest: z.string(),
    createdAt: z.int(),
    spec: z.record(z.string(), z.unknown()),
    files: z.array(fileSchema),
  })
  .meta({ id: 'SkillVersion' }) as unknown as z.ZodType<SkillVersion>;

export const referrerSchema: z.ZodType<Referrer> = z
  .object({ id: z.int(), kind: z.enum(['Skill', 'Ghost', 'Bot', 'Team']), name: z.string(), namespace: z.string() })
  .meta({ id: 'Referrer' });

/** An error that names the ghosts in the way. */
export type ReferencedProblem = Problem & { referenced_ghosts: Pick<Referrer, 'id' | 'name' | 'namespace'>[] };

export const referencedSchema: z.ZodType<ReferencedProblem> = z
  .object({
    ...problemFields,
    referenced_ghosts: z.array(z.object({ id: z.int(), name: z.string(), namespace: z.string() })).optional(),
  })
  .meta({ id: 'ReferencedProblem' }) as unknown as z.ZodType<ReferencedProblem>;

/** The fields of a public skill without an archive. */
export const skillFieldsSchema: z.ZodType<SkillForm> = z.strictObject({
  name: z.string().min(1).max(100),
  description: z.string().min(1).max(10_000),
  prompt: z.string().min(1).max(500_000),
  displayName: z.string().max(200).optional(),
  version: z.string().max(100).optional(),
  author: z.string().max(200).optional(),
  tags: z.array(z.string().max(100)).max(100).optional(),
  bindShells: z.array(z.string().max(100)).max(100).optional(),
});
