import type { Kysely } from 'kysely';
import { type Actor, changeRow, findOwnRow, insertRow, isColumnInteger } from '../kinds/kind-rows.ts';
import type { SkillBinaryRow, Tables } from '../database/tables.ts';
import { notFound } from '../users/tokens.ts';
import type { DescribedSkill } from './describe-skill.ts';

/** A skill with its archive, ready to be stored. */
export interface NewVersion extends Omit<DescribedSkill, 'diagnostics'> {
  bytes: Uint8Array;
  fileSize: number;
  fileHash: string;
}

/** The place of a new skill. */
export interface SkillPlace {
  /** The user, or 0 for a public skill. */
  owner: number;
  namespace: string;
  /** Whether it belongs to the package. */
  isReadOnly?: boolean;
}

/**
 * Stores the first version of a skill.
 *
 * @returns its id
 * @throws SkillcellError `resource.exists` for a name, or a slug, that another skill of the owner has
 */
export async function storeSkill(
  db: Kysely<Tables>,
  skill: NewVersion,
  { owner, namespace, isReadOnly = false }: SkillPlace,
  now: number,
): Promise<number> {
  const content = contentOf(skill);
  return await db.transaction().execute(async (open) => {
    const row = await insertRow(
      open,
      {
        user_id: owner,
        kind: 'Skill',
        namespace,
        name: skill.name,
        slug: skill.slug,
        read_only: isReadOnly ? 1 : 0,
        ...presentOf(content),
      },
      now,
    );
    await insertVersion(open, row.id, 1, content, now);
    return row.id;
  });
}

/**
 * Stores the next version of a skill.
 *
 * @param revision the version that the caller has read
 * @throws SkillcellError `resource.changed`
 */
export async function storeVersion(
  db: Kysely<Tables>,
  id: number,
  skill: NewVersion,
  { revision, now }: { revision: number; now: number },
): Promise<void> {
  await db.transaction().execute(async (open) => {
    await addVersion(open, id, contentOf(skill), { revision, now });
  });
}

/**
 * Makes the content of an earlier version the next one.
 *
 * @param revision the version that the caller has read; without it, any
 * @throws SkillcellError `resource.not-found`, `auth.forbidden`, `resource.read-only`, `resource.changed`
 */
export async function rollBackSkill(
  db: Kysely<Tables>,
  id: number,
  version: number,
  { actor, revision, now }: { actor: Actor; revision?: number | undefined; now: number },
): Promise<void> {
  await db.transaction().execute(async (open) => {
    await findOwnRow(open, 'Skill', id, actor);
    const earlier = isColumnInteger(version)
      ? await open
          .selectFrom('skill_binaries')
          .selectAll()
          .where('kind_id', '=', id)
          .where('version', '=', version)
          .executeTakeFirst()
      : undefined;
    if (earlier === undefined) throw notFound();
    await addVersion(open, id, earlier, { revision, now });
  });
}

type VersionContent = Omit<SkillBinaryRow, 'id' | 'kind_id' | 'version' | 'created_at'>;

function contentOf({ spec, files, prompt, fileSize, fileHash, digest, bytes }: NewVersion): VersionContent {
  return {
    json: JSON.stringify(spec),
    files: JSON.stringify(files),
    prompt,
    file_size: fileSize,
    file_hash: fileHash,
    digest,
    binary_data: bytes,
  };
}

/** The parts that the row of the skill has as well. */
function presentOf({
  json,
  file_size,
  file_hash,
  digest,
}: VersionContent): Pick<VersionContent, 'json' | 'file_size' | 'file_hash' | 'digest'> {
  return { json, file_size, file_hash, digest };
}

/** Makes a content the present version. */
async function addVersion(
  open: Kysely<Tables>,
  id: number,
  content: VersionContent,
  { revision, now }: { revision: number | undefined; now: number },
): Promise<void> {
  const row = await changeRow(open, id, presentOf(content), { kind: 'Skill', revision, now });
  await insertVersion(open, id, row.revision, content, now);
}

async function insertVersion(
  open: Kysely<Tables>,
  kindId: number,
  version: number,
  { json, files, prompt, file_size, file_hash, digest, binary_data }: VersionContent,
  now: number,
): Promise<void> {
  const content = { json, files, prompt, file_size, file_hash, digest, binary_data };
  await open
    .insertInto('skill_binaries')
    .values({ kind_id: kindId, version, created_at: now, ...content })
    .execute();
}
