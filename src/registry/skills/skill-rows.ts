import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import { folderId } from '../../skills/text/slug.ts';
import type { SkillBinaryRow, Tables } from '../database/tables.ts';
import { KIND_COLUMNS, kindObject, type KindObject } from '../kinds/kind-object.ts';
import {
  type Actor,
  findRow,
  isColumnInteger,
  type Listed,
  type ListOptions,
  mayRead,
  PUBLIC,
} from '../kinds/kind-rows.ts';
import { teamSkills } from '../kinds/team-skills.ts';
import { notFound } from '../users/tokens.ts';
import type { SkillSpec } from './describe-skill.ts';

/** A skill of the registry, at its present version. */
export type SkillObject = KindObject<SkillSpec> & Required<Pick<KindObject, 'file'>>;

/** One version of a skill. */
export interface SkillVersion {
  version: number;
  fileSize: number;
  /** SHA-256 of the archive, in hex. */
  fileHash: string;
  digest: string;
  createdAt: number;
  spec: SkillSpec;
  files: SkillFile[];
}

/** The archive of a version. */
export interface SkillArchive extends Omit<SkillVersion, 'spec' | 'files'> {
  slug: string;
  bytes: Uint8Array;
}

const VERSION_COLUMNS = [
  'skill_binaries.version',
  'skill_binaries.file_size',
  'skill_binaries.file_hash',
  'skill_binaries.digest',
  'skill_binaries.created_at',
] as const;

type VersionRow = Pick<Selectable<SkillBinaryRow>, 'version' | 'file_size' | 'file_hash' | 'digest' | 'created_at'>;

/** Skills with their present versions. */
export function presentSkills(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'kinds' | 'skill_binaries', object> {
  return db
    .selectFrom('kinds')
    .innerJoin('skill_binaries', (join) =>
      join.onRef('skill_binaries.kind_id', '=', 'kinds.id').onRef('skill_binaries.version', '=', 'kinds.revision'),
    )
    .where('kinds.kind', '=', 'Skill');
}

/** @throws SkillcellError `resource.not-found` */
export async function getSkill(db: Kysely<Tables>, id: number, actor: Actor): Promise<SkillObject> {
  const row = isColumnInteger(id)
    ? await presentSkills(db)
        .select([...KIND_COLUMNS, ...FILE_COLUMNS])
        .where('kinds.id', '=', id)
        .where((eb) => mayRead(actor)(eb))
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound();
  return skillObject(row);
}

const FILE_COLUMNS = ['skill_binaries.file_size', 'skill_binaries.file_hash', 'skill_binaries.digest'] as const;

type PresentRow = Parameters<typeof kindObject>[0] & Pick<VersionRow, 'file_size' | 'file_hash' | 'digest'>;

/** The skill of a row of {@link presentSkills}. */
export function skillObject(row: PresentRow): SkillObject {
  const { file_size, file_hash, digest } = row;
  return { ...kindObject<SkillSpec>(row), file: { bytes: file_size, hash: file_hash, digest } };
}

/** The skills of one owner, by name; `PUBLIC` for public ones. */
export async function listSkills(
  db: Kysely<Tables>,
  owner: number,
  { skip, limit, name, namespace }: ListOptions,
): Promise<Listed<SkillObject>> {
  const all = presentSkills(db)
    .where('kinds.user_id', '=', owner)
    .$if(name !== undefined, (query) => query.where('kinds.name', '=', name ?? ''))
    .$if(namespace !== undefined, (query) => query.where('kinds.namespace', '=', namespace ?? ''));
  const rows = await all
    .select([...KIND_COLUMNS, ...FILE_COLUMNS])
    .orderBy('kinds.name')
    .orderBy('kinds.id')
    .limit(limit)
    .offset(skip)
    .execute();
  const { total } = await all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { items: rows.map(skillObject), total };
}

/** The skills that a user may load, its own before public ones. An own skill hides a public one of the same slug. */
export async function listUnified(
  db: Kysely<Tables>,
  userId: number,
  { skip, limit }: Pick<ListOptions, 'skip' | 'limit'>,
): Promise<(SkillObject & { hidden: boolean })[]> {
  const rows = await presentSkills(db)
    .leftJoin('kinds as own', (join) =>
      join.onRef('own.slug', '=', 'kinds.slug').onRef('own.id', '!=', 'kinds.id').on('own.user_id', '=', userId),
    )
    .select([...KIND_COLUMNS, ...FILE_COLUMNS, 'own.id as hidden_by'])
    .where('kinds.user_id', 'in', [PUBLIC, userId])
    .orderBy((eb) => eb.case().when('kinds.user_id', '=', PUBLIC).then(1).else(0).end())
    .orderBy('kinds.name')
    .orderBy('kinds.id')
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map((row) => ({ ...skillObject(row), hidden: row.hidden_by !== null }));
}

/** The versions of a skill, newest first. @throws SkillcellError `resource.not-found` */
export async function listVersions(db: Kysely<Tables>, id: number, actor: Actor): Promise<SkillVersion[]> {
  await findRow(db, 'Skill', id, actor);
  const rows = await db
    .selectFrom('skill_binaries')
    .select([...VERSION_COLUMNS, 'skill_binaries.json', 'skill_binaries.files'])
    .where('kind_id', '=', id)
    .orderBy('version', 'desc')
    .execute();
  return rows.map(({ json, files, ...row }) => ({
    ...versionOf(row),
    spec: JSON.parse(json) as SkillSpec,
    files: JSON.parse(files) as SkillFile[],
  }));
}

function versionOf({
  version,
  file_size,
  file_hash,
  digest,
  created_at,
}: VersionRow): Omit<SkillVersion, 'spec' | 'files'> {
  return { version, fileSize: file_size, fileHash: file_hash, digest, createdAt: created_at };
}

/**
 * The uploaded bytes of a version; by default of the present one.
 *
 * @throws SkillcellError `resource.not-found`
 */
export async function downloadSkill(
  db: Kysely<Tables>,
  id: number,
  actor: Actor,
  version?: number,
): Promise<SkillArchive> {
  const { slug, revision } = await findRow(db, 'Skill', id, actor);
  const wanted = version ?? revision;
  const row = isColumnInteger(wanted)
    ? await db
        .selectFrom('skill_binaries')
        .select([...VERSION_COLUMNS, 'skill_binaries.binary_data'])
        .where('kind_id', '=', id)
        .where('version', '=', wanted)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound();
  return { ...versionOf(row), slug: slug ?? '', bytes: row.binary_data };
}

/**
 * The prompt of a skill by its name: an own skill before a public one, or a skill that the jobs of a team may load.
 *
 * @throws SkillcellError `resource.not-found`
 */
export async function invokeSkill(
  db: Kysely<Tables>,
  { skillName, team }: { skillName: string; team?: number | undefined },
  actor: Actor,
): Promise<{ id: number; name: string; prompt: string }> {
  const offered = team === undefined ? undefined : (await teamSkills(db, team, actor)).skills.map(({ id }) => id);
  const rows = await presentSkills(db)
    .select(['kinds.id', 'kinds.user_id', 'kinds.name', 'skill_binaries.prompt'])
    .where('kinds.slug', '=', folderId(skillName).id)
    .where((eb) =>
      offered === undefined
        ? eb('kinds.user_id', 'in', [PUBLIC, actor.userId])
        : offered.length === 0
          ? eb.lit(false)
          : eb('kinds.id', 'in', offered),
    )
    .orderBy('kinds.user_id', 'desc')
    .execute();
  const [found] = rows;
  if (found === undefined) throw notFound();
  const { id, name, prompt } = found;
  return { id, name, prompt };
}
