import type { Kysely } from 'kysely';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import { folderId } from '../../skills/text/slug.ts';
import type { Tables } from '../database/tables.ts';
import { kindObject, type KindObject, type SkillSpec } from '../kinds/kind-object.ts';
import { type Actor, findRow, isColumnInteger, type ListOptions, PUBLIC } from '../kinds/kind-rows.ts';
import { findTeam, type TeamReference } from '../kinds/find-team.ts';
import { teamSkills } from '../kinds/team-skills.ts';
import { notFound } from '../users/tokens.ts';

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

/** Skills that a list shows: `all` are those that a user may load; `everyone` adds those of others that it may only read. */
export type SkillScope = 'own' | 'public' | 'all' | 'everyone';

/** The skills of a scope: own ones, public ones, those of others. An own skill hides a public one of the same slug. */
export async function listUnified(
  db: Kysely<Tables>,
  { userId, role }: Actor,
  { skip, limit, scope = 'all' }: Pick<ListOptions, 'skip' | 'limit'> & { scope?: SkillScope },
): Promise<(KindObject<'Skill'> & { hidden: boolean })[]> {
  const owners = { own: [userId], public: [PUBLIC], all: [PUBLIC, userId], everyone: [PUBLIC, userId] }[scope];
  const rows = await db
    .selectFrom('kinds')
    .leftJoin('kinds as own', (join) =>
      join.onRef('own.slug', '=', 'kinds.slug').on('own.user_id', '=', userId).on('kinds.user_id', '=', PUBLIC),
    )
    .selectAll('kinds')
    .select('own.id as hidden_by')
    .where('kinds.kind', '=', 'Skill')
    .$if(scope !== 'everyone' || role === 'member', (query) => query.where('kinds.user_id', 'in', owners))
    .orderBy((eb) =>
      eb.case().when('kinds.user_id', '=', userId).then(0).when('kinds.user_id', '=', PUBLIC).then(1).else(2).end(),
    )
    .orderBy('kinds.name')
    .orderBy('kinds.id')
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map((row) => ({ ...kindObject<'Skill'>(row), hidden: row.hidden_by !== null }));
}

/** The versions of a skill, newest first. @throws SkillcellError `resource.not-found` */
export async function listVersions(db: Kysely<Tables>, id: number, actor: Actor): Promise<SkillVersion[]> {
  await findRow(db, 'Skill', id, actor);
  const rows = await db
    .selectFrom('skill_binaries')
    .select(['version', 'json', 'files', 'file_size', 'file_hash', 'digest', 'created_at'])
    .where('kind_id', '=', id)
    .orderBy('version', 'desc')
    .execute();
  return rows.map(({ version, json, files, file_size, file_hash, digest, created_at }) => ({
    version,
    fileSize: file_size,
    fileHash: file_hash,
    digest,
    createdAt: created_at,
    spec: JSON.parse(json) as SkillSpec,
    files: JSON.parse(files) as SkillFile[],
  }));
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
): Promise<{ slug: string; version: number; fileHash: string; bytes: Uint8Array }> {
  const { slug, revision } = await findRow(db, 'Skill', id, actor);
  const wanted = version ?? revision;
  const row = isColumnInteger(wanted)
    ? await db
        .selectFrom('skill_binaries')
        .select(['file_hash', 'binary_data'])
        .where('kind_id', '=', id)
        .where('version', '=', wanted)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound();
  return { slug: slug ?? '', version: wanted, fileHash: row.file_hash, bytes: row.binary_data };
}

/**
 * The prompt of a skill by its name: an own skill before a public one, or a skill that the jobs of a team may load.
 *
 * @throws SkillcellError `resource.not-found`
 */
export async function invokeSkill(
  db: Kysely<Tables>,
  { skillName, team }: { skillName: string; team?: TeamReference | undefined },
  actor: Actor,
): Promise<{ id: number; name: string; prompt: string }> {
  const id = typeof team === 'string' ? await findTeam(db, team, actor.userId) : team;
  if (team !== undefined && id === undefined) throw notFound();
  const offered = id === undefined ? undefined : (await teamSkills(db, id, actor)).skills.map((skill) => skill.id);
  const found = await db
    .selectFrom('kinds')
    .innerJoin('skill_binaries', (join) =>
      join.onRef('skill_binaries.kind_id', '=', 'kinds.id').onRef('skill_binaries.version', '=', 'kinds.revision'),
    )
    .select(['kinds.id', 'kinds.name', 'skill_binaries.prompt'])
    .where('kinds.slug', '=', folderId(skillName).id)
    .where((eb) =>
      // An empty list is no SQL. No row has the id 0.
      offered === undefined ? eb('kinds.user_id', 'in', [PUBLIC, actor.userId]) : eb('kinds.id', 'in', [0, ...offered]),
    )
    .orderBy('kinds.user_id', 'desc')
    .executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
}
