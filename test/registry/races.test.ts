import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import type { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import type { Tables } from '../../src/registry/database/tables.ts';
import { KIND_SCHEMAS, type KindInput } from '../../src/registry/kinds/kind-schemas.ts';
import { createKind, deleteKind, getKind, updateKind } from '../../src/registry/kinds/kinds.ts';
import { deleteSkill, removeReferences } from '../../src/registry/skills/skill-references.ts';
import { type NewVersion, rollBackSkill, storeSkill, storeVersion } from '../../src/registry/skills/store-skill.ts';
import { onDatabase } from '../fixtures/registry/on-database.ts';

const ROUNDS = 300;
const ANN = { userId: 1, role: 'member' } as const;
const PLACE = { owner: 1, namespace: 'default' };
const now = 1_000;

function version(name: string): NewVersion {
  const bytes = Buffer.from(name);
  return {
    name,
    slug: name,
    spec: { description: 'A skill.' },
    digest: `sha256:${'0'.repeat(64)}`,
    files: [],
    prompt: '',
    bytes,
    fileSize: bytes.length,
    fileHash: '',
  };
}

function ghost(name: string, ...skills: string[]): KindInput<'Ghost'> {
  return KIND_SCHEMAS.Ghost.parse({
    apiVersion: 'skillcell/v1',
    kind: 'Ghost',
    metadata: { name },
    spec: { skills },
  });
}

/** The codes of refusals; `done` for a success. Any other error fails. */
async function outcomes(...calls: Promise<unknown>[]): Promise<string[]> {
  return (await Promise.allSettled(calls)).map((one) => {
    if (one.status === 'fulfilled') return 'done';
    const { code } = one.reason as Partial<SkillcellError>;
    if (code?.includes('.') !== true) throw one.reason;
    return code;
  });
}

async function rounds(round: (name: string, index: number) => Promise<string>): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  for (let index = 0; index < ROUNDS; index += 1) {
    const outcome = await round(`n${index}`, index);
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
  }
  return seen;
}

async function assertNothingDangles(db: Kysely<Tables>): Promise<void> {
  const ids = db.selectFrom('kinds').select('id');
  const dangling = await db
    .selectFrom('kind_references')
    .selectAll()
    .where((eb) => eb.or([eb('from_id', 'not in', ids), eb('to_id', 'not in', ids)]))
    .execute();
  expect(dangling).toEqual([]);
}

for (const system of ['SQLite', 'PostgreSQL'] as const) {
  onDatabase(system, (db) => {
    it('a deletion and a new reference have one winner', async () => {
      const seen = await rounds(async (name, index) => {
        const id = await storeSkill(db(), version(`del-${name}`), PLACE, now);
        const holder = `holder-${name}`;
        const isUpdate = index % 2 === 1;
        const there = isUpdate ? (await createKind(db(), ghost(holder), { owner: 1, now })).id : 0;
        const refer = (): Promise<unknown> =>
          isUpdate
            ? updateKind(db(), there, ghost(holder, `del-${name}`), { actor: ANN, revision: 1, now })
            : createKind(db(), ghost(holder, `del-${name}`), { owner: 1, now });
        let kept: number | undefined;
        const remove = (): Promise<unknown> =>
          deleteSkill(db(), id, ANN).then(({ referencedGhosts }) => (kept = referencedGhosts.length));
        const calls = index % 4 < 2 ? [refer(), remove()] : [remove(), refer()].toReversed();
        const [referred] = await outcomes(...calls);
        const left = await db().selectFrom('kinds').select('id').where('id', '=', id).executeTakeFirst();
        const references = await db().selectFrom('kind_references').selectAll().where('to_id', '=', id).execute();
        const isKept = left !== undefined;
        expect({ referred, kept, references: references.length }).toEqual(
          isKept
            ? { referred: 'done', kept: 1, references: 1 }
            : { referred: 'kind.reference-missing', kept: 0, references: 0 },
        );
        return isKept ? 'reference' : 'deletion';
      });
      expect([...seen.keys()].toSorted()).toEqual(['deletion', 'reference']);
      await assertNothingDangles(db());
    });

    it('of two updates on top of one version, the second is refused', async () => {
      const id = await storeSkill(db(), version('updated'), PLACE, now);
      await rounds(async (_name, index) => {
        const revision = index + 1;
        const update = (): Promise<unknown> => storeVersion(db(), id, version('updated'), { revision, now });
        const other = index % 2 === 0 ? update() : rollBackSkill(db(), id, revision, { actor: ANN, revision, now });
        expect((await outcomes(update(), other)).toSorted()).toEqual(['done', 'resource.changed']);
        return '';
      });
      const rows = await db().selectFrom('skill_binaries').select('version').where('kind_id', '=', id).execute();
      expect(rows.map((row) => row.version).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: ROUNDS + 1 }, (_, index) => index + 1),
      );
    });

    it('of two updates of a ghost, the second is refused, and its references are those of the first', async () => {
      for (const name of ['left', 'right']) await storeSkill(db(), version(name), PLACE, now);
      const { id } = await createKind(db(), ghost('updated'), { owner: 1, now });
      await rounds(async (_name, index) => {
        const update = (name: string): Promise<unknown> =>
          updateKind(db(), id, ghost('updated', name), { actor: ANN, revision: index + 1, now });
        expect((await outcomes(update('left'), update('right'))).toSorted()).toEqual(['done', 'resource.changed']);
        const { spec } = await getKind(db(), 'Ghost', id, ANN);
        const targets = await db()
          .selectFrom('kind_references')
          .innerJoin('kinds', 'kinds.id', 'kind_references.to_id')
          .select('kinds.name')
          .where('from_id', '=', id)
          .execute();
        expect(targets.map(({ name }) => name)).toEqual(spec.skills);
        return '';
      });
    });

    it('of two uploads of one name, the second is refused', async () => {
      await rounds(async (name) => {
        const store = (slug: string): Promise<unknown> =>
          storeSkill(db(), { ...version(`up-${name}`), slug }, PLACE, now);
        expect((await outcomes(store(`up-${name}`), store(`up-${name}`))).toSorted()).toEqual([
          'done',
          'resource.exists',
        ]);
        return '';
      });
    });

    it('ghosts that refer to the same skills in other orders never wait for each other', async () => {
      for (const name of ['a', 'b', 'c']) await storeSkill(db(), version(`order-${name}`), PLACE, now);
      await rounds(async (name) => {
        const orders = [
          ['a', 'b', 'c'],
          ['c', 'b', 'a'],
          ['b', 'c', 'a'],
        ].map((order) => order.map((one) => `order-${one}`));
        const made = orders.map((skills, index) =>
          createKind(db(), ghost(`order-${name}-${index}`, ...skills), { owner: 1, now }),
        );
        expect(await outcomes(...made)).toEqual(['done', 'done', 'done']);
        return '';
      });
    });

    it('removed references and a change of the ghost lose neither change', async () => {
      const id = await storeSkill(db(), version('removed'), PLACE, now);
      await storeSkill(db(), version('stays'), PLACE, now);
      await rounds(async (name) => {
        const holder = `removed-${name}`;
        const made = await createKind(db(), ghost(holder, 'removed'), { owner: 1, now });
        const change = updateKind(db(), made.id, ghost(holder, 'removed', 'stays'), { actor: ANN, revision: 1, now });
        const [changedBy, removedBy] = await outcomes(change, removeReferences(db(), id, { actor: ANN, now }));
        expect(removedBy).toBe('done');
        const { spec, revision } = await getKind(db(), 'Ghost', made.id, ANN);
        expect([spec.skills, revision]).toEqual(changedBy === 'done' ? [['stays'], 3] : [[], 2]);
        await deleteKind(db(), 'Ghost', made.id, ANN);
        return '';
      });
      await assertNothingDangles(db());
    });
  });
}
