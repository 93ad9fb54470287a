import type { Kysely } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { folderId } from '../../skills/text/slug.ts';
import type { KindRow, Tables } from '../database/tables.ts';
import { type Actor, lockRow, mayRead, PUBLIC } from './kind-rows.ts';
import { DEFAULT_NAMESPACE, type KindInput, type KindSpecs, type NameReference } from './kind-schemas.ts';

/** An object that refers to another one. */
export interface Referrer {
  id: number;
  kind: KindRow['kind'];
  name: string;
  namespace: string;
}

/** The kind that each kind refers to. */
const TARGETS: Readonly<Record<keyof KindSpecs, KindRow['kind']>> = { Ghost: 'Skill', Bot: 'Ghost', Team: 'Bot' };

/**
 * Resolves the names in a spec, own objects before public ones, and replaces the references of its row by them.
 *
 * @param open a transaction
 * @throws SkillcellError `kind.reference-missing`
 */
export async function writeReferences(
  open: Kysely<Tables>,
  fromId: number,
  owner: number,
  input: KindInput,
): Promise<void> {
  const ids = await resolveNames(open, owner, input);
  // In one order, so that two transactions never wait for each other. A locked target is not deleted before the commit.
  for (const [id, name] of ids.toSorted(([a], [b]) => a - b)) {
    if (!(await lockRow(open, id))) throw missing(input.kind, name);
  }
  await open.deleteFrom('kind_references').where('from_id', '=', fromId).execute();
  if (ids.length === 0) return;
  await open
    .insertInto('kind_references')
    .values(ids.map(([id]) => ({ from_id: fromId, to_id: id })))
    .execute();
}

/** The ids that a spec refers to, each once, with a name. */
async function resolveNames(open: Kysely<Tables>, owner: number, input: KindInput): Promise<[number, string][]> {
  const names = namesIn(input);
  if (names.length === 0) return [];
  const column = input.kind === 'Ghost' ? 'slug' : 'name';
  const rows = await open
    .selectFrom('kinds')
    .select(['id', 'user_id', 'namespace', 'name', 'slug'])
    .where('kind', '=', TARGETS[input.kind])
    .where('user_id', 'in', [PUBLIC, owner])
    .where(
      column,
      'in',
      names.map(({ key }) => key),
    )
    .execute();
  const found = names.map(({ key, name, namespaces }): [number, string] => {
    const rank = (row: (typeof rows)[number]): number =>
      (row.user_id === owner ? 0 : 10) + (namespaces?.indexOf(row.namespace) ?? 0);
    const [best] = rows
      .filter((row) => row[column] === key && namespaces?.includes(row.namespace) !== false)
      .toSorted((a, b) => rank(a) - rank(b));
    if (best === undefined) throw missing(input.kind, name);
    return [best.id, name];
  });
  return [...new Map(found)];
}

interface SoughtName {
  key: string;
  name: string;
  /** In the order in which they count; undefined if a key is unique among the objects of its owner. */
  namespaces?: string[];
}

function namesIn(input: KindInput): SoughtName[] {
  if (isOf(input, 'Ghost')) return input.spec.skills.map((name) => ({ key: folderId(name).id, name }));
  const references = isOf(input, 'Bot')
    ? [input.spec.ghostRef]
    : (input as KindInput<'Team'>).spec.members.map(({ botRef }) => botRef);
  return references.map(({ name, namespace }: NameReference) => ({
    key: name,
    name,
    namespaces: namespace === undefined ? [input.metadata.namespace, DEFAULT_NAMESPACE] : [namespace],
  }));
}

function isOf<Kind extends keyof KindSpecs>(input: KindInput, kind: Kind): input is KindInput<Kind> {
  return input.kind === kind;
}

function missing(from: keyof KindSpecs, name: string): SkillcellError {
  return new SkillcellError(
    'kind.reference-missing',
    `Cannot write the ${from}: no ${TARGETS[from]} of yours and no public one has the name, got ${quotedText(name)}.`,
  );
}

/**
 * The objects that refer to others, in order of creation.
 *
 * @param actor only objects that this user may read
 */
export async function referrersOf(db: Kysely<Tables>, ids: readonly number[], actor?: Actor): Promise<Referrer[]> {
  if (ids.length === 0) return [];
  const all = db
    .selectFrom('kinds')
    .select(['id', 'kind', 'name', 'namespace'])
    .where('id', 'in', db.selectFrom('kind_references').select('from_id').where('to_id', 'in', ids))
    .orderBy('id');
  return await (actor === undefined ? all : all.where(mayRead(actor))).execute();
}

/**
 * Deletes a row, unless others refer to it.
 *
 * @returns the objects that refer to it; empty if it was deleted
 */
export async function deleteUnreferenced(open: Kysely<Tables>, id: number): Promise<Referrer[]> {
  // New references lock their target as well, so none comes between the look and the deletion.
  await lockRow(open, id);
  const referrers = await referrersOf(open, [id]);
  if (referrers.length === 0) await open.deleteFrom('kinds').where('id', '=', id).execute();
  return referrers;
}
