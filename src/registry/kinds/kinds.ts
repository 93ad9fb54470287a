import type { Kysely } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { listNames } from '../../skills/text/list-names.ts';
import type { Tables } from '../database/tables.ts';
import { type AllSpecs, kindObject, type KindObject } from './kind-object.ts';
import {
  type Actor,
  changeRow,
  findOwnRow,
  findRow,
  insertRow,
  type Listed,
  type ListOptions,
  mayRead,
} from './kind-rows.ts';
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
    const { name, namespace } = metadata;
    const row = await insertRow(open, { user_id: owner, kind, namespace, name, json: JSON.stringify(spec) }, now);
    await writeReferences(open, row.id, owner, input);
    return kindObject(row);
  });
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
    const row = await changeRow(open, id, { json: JSON.stringify(spec) }, { kind, revision, now });
    await writeReferences(open, id, user_id, input);
    return kindObject(row);
  });
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
