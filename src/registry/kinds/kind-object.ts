import type { Selectable } from 'kysely';
import type { KindRow } from '../database/tables.ts';
import { API_VERSION } from './kind-schemas.ts';

/** An object of the registry. */
export interface KindObject<Spec = unknown> {
  id: number;
  /** 0 for a public one. */
  userId: number;
  kind: KindRow['kind'];
  namespace: string;
  name: string;
  /** The id of a skill without its namespace; null for the other kinds. */
  slug: string | null;
  spec: Spec;
  /** Number of the last change. It is the present version of a skill. */
  revision: number;
  /** Whether it belongs to the package. */
  readOnly: boolean;
  createdAt: number;
  updatedAt: number;
  /** The archive of a skill. */
  file?: StoredFile;
}

/** An archive of a skill. */
export interface StoredFile {
  bytes: number;
  /** SHA-256 of the archive, in hex. */
  hash: string;
  /** Digest of the skill's files. */
  digest: string;
}

/** An object as requests and answers hold it. */
export interface KindForm {
  apiVersion: string;
  kind: KindRow['kind'];
  metadata: { name: string; namespace: string; labels: { id: string; user_id: string } };
  spec: unknown;
  status?: { state: 'AVAILABLE'; fileSize: number; fileHash: string };
}

/** The columns of {@link kindObject}. */
export const KIND_COLUMNS = [
  'kinds.id',
  'kinds.user_id',
  'kinds.kind',
  'kinds.namespace',
  'kinds.name',
  'kinds.slug',
  'kinds.json',
  'kinds.revision',
  'kinds.read_only',
  'kinds.created_at',
  'kinds.updated_at',
] as const;

/** The object of a row. */
export function kindObject<Spec>(row: Selectable<KindRow>): KindObject<Spec> {
  const { id, user_id, kind, namespace, name, slug, json, revision, read_only, created_at, updated_at } = row;
  return {
    id,
    userId: user_id,
    kind,
    namespace,
    name,
    slug,
    spec: JSON.parse(json) as Spec,
    revision,
    readOnly: read_only === 1,
    createdAt: created_at,
    updatedAt: updated_at,
  };
}

/** The form of an object in answers. */
export function kindForm({ id, userId, kind, namespace, name, spec, file }: KindObject): KindForm {
  const form: KindForm = {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace, labels: { id: String(id), user_id: String(userId) } },
    spec,
  };
  return file === undefined
    ? form
    : { ...form, status: { state: 'AVAILABLE', fileSize: file.bytes, fileHash: file.hash } };
}
