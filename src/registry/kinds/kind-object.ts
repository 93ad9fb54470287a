import type { Selectable } from 'kysely';
import type { SkillFields } from '../../contracts/skills/skill.ts';
import type { KindRow } from '../database/tables.ts';
import { API_VERSION, type KindSpecs } from './kind-schemas.ts';

/** `spec` of a skill: the frontmatter, without the fields that its place in the registry decides. */
export type SkillSpec = Omit<SkillFields, 'name' | 'namespace'>;

/** The specs of all kinds. */
export interface AllSpecs extends KindSpecs {
  Skill: SkillSpec;
}

/** An object of the registry. */
export interface KindObject<Kind extends keyof AllSpecs = keyof AllSpecs> {
  id: number;
  /** 0 for a public one. */
  userId: number;
  kind: Kind;
  namespace: string;
  name: string;
  /** The id of a skill without its namespace; null for the other kinds. */
  slug: string | null;
  spec: AllSpecs[Kind];
  /** Number of the last change. It is the present version of a skill. */
  revision: number;
  /** Whether it belongs to the package. */
  readOnly: boolean;
  createdAt: number;
  updatedAt: number;
  /** The archive of a skill: its SHA-256 in hex, and the digest of the files. */
  file?: { bytes: number; hash: string; digest: string };
}

/** An object as requests and answers hold it. */
export interface KindForm {
  apiVersion: string;
  kind: KindRow['kind'];
  metadata: { name: string; namespace: string; labels: { id: string; user_id: string } };
  spec: unknown;
  /** Of a skill. No request changes a skill that is `readOnly`: it belongs to the package. */
  status?: { state: 'AVAILABLE'; fileSize: number; fileHash: string; readOnly: boolean };
}

/** The object of a row. */
export function kindObject<Kind extends keyof AllSpecs>(row: Selectable<KindRow>): KindObject<Kind> {
  const { id, user_id, kind, namespace, name, slug, json, revision, file_size, file_hash, digest } = row;
  return {
    id,
    userId: user_id,
    kind: kind as Kind,
    namespace,
    name,
    slug,
    spec: JSON.parse(json) as AllSpecs[Kind],
    revision,
    readOnly: row.read_only === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(kind === 'Skill' ? { file: { bytes: file_size ?? 0, hash: file_hash ?? '', digest: digest ?? '' } } : {}),
  };
}

/** The form of an object in answers. */
export function kindForm({ id, userId, kind, namespace, name, spec, file, readOnly }: KindObject): KindForm {
  const metadata = { name, namespace, labels: { id: String(id), user_id: String(userId) } };
  const form: KindForm = { apiVersion: API_VERSION, kind, metadata, spec };
  if (file !== undefined) form.status = { state: 'AVAILABLE', fileSize: file.bytes, fileHash: file.hash, readOnly };
  return form;
}
