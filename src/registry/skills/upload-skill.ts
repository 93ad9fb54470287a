import { readFile } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { archiveRefused } from '../../archives/checks/archive-refused.ts';
import { packSkill } from '../../archives/pack-skill.ts';
import { yamlText } from '../../authoring/yaml-text.ts';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SKILL_FILE } from '../../skills/load/files/skill-file-name.ts';
import { compareCodePoints } from '../../skills/text/text.ts';
import type { Tables } from '../database/tables.ts';
import type { KindObject } from '../kinds/kind-object.ts';
import { getKind } from '../kinds/kinds.ts';
import { type Actor, changed, findOwnRow, PUBLIC, taken } from '../kinds/kind-rows.ts';
import { DEFAULT_NAMESPACE } from '../kinds/kind-schemas.ts';
import { type ArchiveContent, type CheckedSkill, workOnArchive } from './archive-work.ts';
import { type NewVersion, storeSkill, storeVersion } from './store-skill.ts';

/** An archive in memory. */
export interface UploadedFile {
  bytes: Uint8Array;
  /** Its file name. */
  file: string;
}

/** An archive in memory or on the disk, with its file name. */
type Uploaded = ArchiveContent & Pick<UploadedFile, 'file'>;

/** A file that a version changes. */
export interface ChangedFile {
  path: string;
  state: 'added' | 'removed' | 'changed';
}

/** The result of an upload. */
export interface UploadResult {
  checked: CheckedSkill;
  /** In the order of paths. */
  changes: ChangedFile[];
  /** Absent for a dry run. */
  skill?: KindObject<'Skill'>;
}

interface UploadOptions {
  actor: Actor;
  now: number;
  /** Whether nothing is written. */
  dryRun?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Checks an archive, and stores its skill.
 *
 * @param owner the user, or 0 for a public skill
 * @throws SkillcellError `archive.refused`, `skills.invalid`, `resource.exists`
 */
export async function uploadSkill(
  db: Kysely<Tables>,
  { name, namespace = DEFAULT_NAMESPACE, ...uploaded }: Uploaded & { name?: string; namespace?: string },
  { owner, actor, now, dryRun = false, signal }: UploadOptions & { owner: number },
): Promise<UploadResult> {
  const checked = await check(uploaded, { name, isPublic: owner === PUBLIC, signal });
  const changes = changedFiles([], checked.files);
  if (!dryRun) {
    const id = await storeSkill(db, await withBytes(checked, uploaded, signal), { owner, namespace }, now);
    return { checked, changes, skill: await getKind(db, 'Skill', id, actor) };
  }
  const other = await db
    .selectFrom('kinds')
    .select('id')
    .where('user_id', '=', owner)
    .where('slug', '=', checked.slug)
    .executeTakeFirst();
  if (other !== undefined) throw taken('Skill', checked.name);
  return { checked, changes };
}

/**
 * Checks an archive, and stores its skill as the next version.
 *
 * @param revision the version that the caller has read
 * @throws SkillcellError `archive.refused`, `skills.invalid`, `resource.not-found`, `auth.forbidden`, `resource.read-only`, `resource.changed`
 */
export async function updateSkill(
  db: Kysely<Tables>,
  id: number,
  uploaded: Uploaded,
  { actor, revision, now, dryRun = false, signal }: UploadOptions & { revision: number },
): Promise<UploadResult> {
  const row = await findOwnRow(db, 'Skill', id, actor);
  if (row.revision !== revision) throw changed('Skill');
  const isPublic = row.user_id === PUBLIC;
  const checked = await check(uploaded, { name: row.name, isPublic, signal });
  const before = await db
    .selectFrom('skill_binaries')
    .select('files')
    .where('kind_id', '=', id)
    .where('version', '=', revision)
    .executeTakeFirst();
  const changes = changedFiles(JSON.parse(before?.files ?? '[]') as SkillFile[], checked.files);
  if (dryRun) return { checked, changes };
  await storeVersion(db, id, await withBytes(checked, uploaded, signal), { revision, now });
  return { checked, changes, skill: await getKind(db, 'Skill', id, actor) };
}

async function check(
  uploaded: Uploaded,
  { name, isPublic, signal }: { name: string | undefined; isPublic: boolean; signal: AbortSignal | undefined },
): Promise<CheckedSkill> {
  return (await workOnArchive({ type: 'check', ...uploaded, name, isPublic }, { signal })) as CheckedSkill;
}

/** Only an archive that is taken comes into memory. */
async function withBytes(
  checked: CheckedSkill,
  uploaded: Uploaded,
  signal: AbortSignal | undefined,
): Promise<NewVersion> {
  if ('bytes' in uploaded) return { ...checked, bytes: uploaded.bytes };
  const bytes = await readFile(uploaded.path).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
  return { ...checked, bytes };
}

function changedFiles(before: readonly SkillFile[], after: readonly SkillFile[]): ChangedFile[] {
  const [had, has] = [before, after].map((files) => new Map(files.map((file) => [file.path, file])));
  const paths = [...new Set([...before, ...after].map(({ path }) => path))].toSorted(compareCodePoints);
  return paths.flatMap((path): ChangedFile[] => {
    const [old, now] = [had?.get(path), has?.get(path)];
    if (old === undefined || now === undefined) return [{ path, state: old === undefined ? 'added' : 'removed' }];
    const isSame = old.digest === now.digest && old.executable === now.executable;
    return isSame ? [] : [{ path, state: 'changed' }];
  });
}

/** A skill in the fields of a form. */
export interface SkillForm {
  name: string;
  description: string;
  prompt: string;
  displayName?: string | undefined;
  version?: string | undefined;
  author?: string | undefined;
  tags?: string[] | undefined;
  bindShells?: string[] | undefined;
}

/** Packs the fields of a form into an archive, as an upload has it. */
export async function packSkillForm({ prompt, ...fields }: SkillForm): Promise<UploadedFile> {
  const lines = Object.entries(fields).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return `${key}: ${typeof value === 'string' ? yamlText(value) : `[${value.map(yamlText).join(', ')}]`}\n`;
  });
  const bytes = Buffer.from(`---\n${lines.join('')}---\n${prompt}`);
  const tree = new Map([[SKILL_FILE, { bytes, executable: false }]]);
  try {
    const { archive } = await packSkill('skill', tree, { store: false });
    return { bytes: archive, file: 'skill.zip' };
  } catch (error) {
    throw archiveRefused(error, quotedText(fields.name), 'pack the skill');
  }
}
