import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { packSkill } from '../../archives/pack-skill.ts';
import { inPackage } from '../../contracts/package-root.ts';
import { builtinSkills } from '../../library/install/steps/builtin-skills.ts';
import { findSkillFolders } from '../../skills/load/find-skill-folders.ts';
import { readManifest } from '../../skills/load/read-manifest.ts';
import { skillDigest } from '../../skills/text/digest.ts';
import type { Tables } from '../database/tables.ts';
import { PUBLIC } from '../kinds/kind-rows.ts';
import { DEFAULT_NAMESPACE } from '../kinds/kind-schemas.ts';
import { deleteUnreferenced } from '../kinds/references.ts';
import { describeSkill } from './describe-skill.ts';
import { type NewVersion, storeSkill, storeVersion } from './store-skill.ts';

/**
 * Makes the public skills of the package rows of user 0 that no request changes. A public skill of an admin with the same slug stays, and hides
 * that of the package.
 *
 * @param folder of the package's public skills
 */
export async function syncPackageSkills(
  db: Kysely<Tables>,
  now: number,
  folder: string = inPackage('skills/public'),
): Promise<void> {
  const rows = await db
    .selectFrom('kinds')
    .select(['id', 'slug', 'revision', 'read_only', 'digest'])
    .where('kind', '=', 'Skill')
    .where('user_id', '=', PUBLIC)
    .execute();
  if (isAsPackaged(rows, folder)) return;
  const stored = new Map(rows.map((row) => [row.slug, row]));
  const packaged = new Set<string | null>();
  for (const { skill, read } of builtinSkills(folder)().values()) {
    packaged.add(skill.skillId);
    const row = stored.get(skill.skillId);
    if (row?.read_only === 0 || row?.digest === skill.digest) continue;
    const tree = read();
    const { archive } = await packSkill(skill.skillId, tree, { store: true });
    const version: NewVersion = {
      ...describeSkill(tree, { name: skill.skillId, isPublic: true }),
      bytes: archive,
      fileSize: archive.length,
      fileHash: createHash('sha256').update(archive).digest('hex'),
    };
    if (row !== undefined) await storeVersion(db, row.id, version, { revision: row.revision, now });
    else await storeSkill(db, version, { owner: PUBLIC, namespace: DEFAULT_NAMESPACE, isReadOnly: true }, now);
  }
  for (const { id, slug, read_only } of rows) {
    if (read_only === 1 && !packaged.has(slug)) await retire(db, id);
  }
}

/** Whether the rows are those of the package already. To compare digests takes a tenth of the time that reading the skills takes. */
function isAsPackaged(rows: readonly { read_only: number; digest: string | null }[], folder: string): boolean {
  const packaged = new Set<string>();
  for (const { dir, listing } of findSkillFolders(folder).folders) {
    const { files } = readManifest(join(folder, dir), { listing });
    if (files === undefined) return false;
    packaged.add(skillDigest(files));
  }
  const stored = rows.filter((row) => row.read_only === 1).map(({ digest }) => String(digest));
  return stored.length === packaged.size && stored.every((digest) => packaged.has(digest));
}

/** A skill that the package does not have any more stays for the ghosts that refer to it; admins may delete it then. */
async function retire(db: Kysely<Tables>, id: number): Promise<void> {
  await db.transaction().execute(async (open) => {
    if ((await deleteUnreferenced(open, id)).length === 0) return;
    await open.updateTable('kinds').set({ read_only: 0 }).where('id', '=', id).execute();
  });
}
