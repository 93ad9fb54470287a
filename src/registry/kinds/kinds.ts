import type { Kysely } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { listNames } from '../../skills/text/list-names.ts';
import type { Tables } from '../database/tables.ts';
import { type AllSpecs, kindObject, type KindObject } from './kind-object.ts';
import { type Actor, findOwnRow, findRow, type Listed, type ListOptions, mayRead } from './kind-rows.ts';
import type { KindInput, KindSpecs } from './kind-schemas.ts';
import { deleteUnreferenced, writeReferences } from './references.ts';

const NAMED = 10;

/**
 * Creates a ghost, bot or team.
 *
 * @param owner the user, or 0 for a public object
 * @throws SkillcellError `resource.exists`, `kind.reference-missing`
 */
export async function createKind<Kind extends keyof KindSpecs>(
  db: Kysely<Tables>,
  input: KindInput<Kind>,
  { owner, now }: { owner: number; now: number },
): Promise<KindObject<Kind>> {
  const { kind, metadata, spec } = input;
  return await db.transaction().execute(async (open) => {
    const row = await open
      .insertInto('kinds')
      .values({
        user_id: owner,
        kind,
        namespace: metadata.namespace,
        name: metadata.name,
        slug: null,
        json: JSON.stringify(spec),
        revision: 1,
        read_only: 0,
        file_size: null,
        file_hash: null,
        digest: null,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw taken(kind, metadata.name);
    await writeReferences(open, row.id, owner, input);
    return kindObject(row);
  });
}

/** The error for a name that another object has. */
export function taken(kind: string, name: string): SkillcellError {
  return new SkillcellError(
    'resource.exists',
    `Cannot create the ${kind}: the name is taken, got ${quotedText(name)}.`,
  );
}

/** The objects of a kind that a user may read, by name. */
export async function listKinds<Kind extends keyof AllSpecs>(
  db: Kysely<Tables>,
  kind: Kind,
  actor: Actor,
  { skip, limit, ...filter }: ListOptions,
): Promise<Listed<KindObject<Kind>>> {
  let all = db.selectFrom('kinds').where('kind', '=', kind).where(mayRead(actor));
  for (const [column, value] of [
    ['user_id', filter.owner],
    ['name', filter.name],
    ['namespace', filter.namespace],
  ] as const)
    if (value !== undefined) all = all.where(column, '=', value);
  const rows = await all.selectAll().orderBy('name').orderBy('id').limit(limit).offset(skip).execute();
  const { total } = await all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { items: rows.map((row) => kindObject<Kind>(row)), total };
}

/** @throws SkillcellError `resource.not-found` */
export async function getKind<Kind extends keyof AllSpecs>(
  db: Kysely<Tables>,
  kind: Kind,
  id: number,
  actor: Actor,
): Promise<KindObject<Kind>> {
  return kindObject(await findRow(db, kind, id, actor));
}

/**
 * Replaces the spec of a ghost, bot or team. Its name stays: others refer to it.
 *
 * @param revision the revision that the caller has read
 * @throws SkillcellError `resource.not-found`, `auth.forbidden`, `resource.changed`, `kind.reference-missing`, `request.invalid`
 */
export async function updateKind<Kind extends keyof KindSpecs>(
  db: Kysely<Tables>,
  id: number,
  input: KindInput<Kind>,
  { actor, revision, now }: { actor: Actor; revision: number; now: number },
): Promise<KindObject<Kind>> {
  const { kind, metadata, spec } = input;
  return await db.transaction().execute(async (open) => {
    const { name, namespace, user_id } = await findOwnRow(open, kind, id, actor);
    if (metadata.name !== name || metadata.namespace !== namespace) {
      const got = quotedText(`${metadata.namespace}/${metadata.name}`);
      throw new SkillcellError('request.invalid', `Cannot change the ${kind}: it keeps its name, got ${got}.`, {
        hint: 'Create another one, and delete this one.',
      });
    }
    const row = await open
      .updateTable('kinds')
      .set((eb) => ({ json: JSON.stringify(spec), revision: eb('revision', '+', 1), updated_at: now }))
      .where('id', '=', id)
      .where('revision', '=', revision)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw changed(kind);
    await writeReferences(open, id, user_id, input);
    return kindObject(row);
  });
}

/** The error for a change on top of an older revision. */
export function changed(kind: string): SkillcellError {
  return new SkillcellError(
    'resource.changed',
    `Cannot change the ${kind}: it is not the revision any more that you have read.`,
  );
}

/**
 * Deletes a ghost, bot or team.
 *
 * @throws SkillcellError `resource.not-found`, `auth.forbidden`, and `resource.referenced` with the names of those that refer to it
 */
export async function deleteKind(db: Kysely<Tables>, kind: keyof KindSpecs, id: number, actor: Actor): Promise<void> {
  const referrers = await db.transaction().execute(async (open) => {
    await findOwnRow(open, kind, id, actor);
    return await deleteUnreferenced(open, id);
  });
  if (referrers.length === 0) return;
  const names = listNames(referrers, NAMED, (one) => `${one.kind} ${quotedText(one.name)}`);
  throw new SkillcellError('resource.referenced', `Cannot delete the ${kind}: it is referred to by ${names}.`);
}
