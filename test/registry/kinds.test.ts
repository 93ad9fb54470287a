import type { Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Tables } from '../../src/registry/database/tables.ts';
import { kindForm } from '../../src/registry/kinds/kind-object.ts';
import { KIND_SCHEMAS, type KindInput } from '../../src/registry/kinds/kind-schemas.ts';
import { createKind, deleteKind, getKind, listKinds, updateKind } from '../../src/registry/kinds/kinds.ts';
import { teamSkills } from '../../src/registry/kinds/team-skills.ts';
import { storeSkill } from '../../src/registry/skills/store-skill.ts';
import { describeSkill } from '../../src/registry/skills/describe-skill.ts';
import { onDatabase } from '../fixtures/registry/on-database.ts';
import { share } from '../fixtures/share.ts';
import { skillText } from '../fixtures/skill-library.ts';

const ANN = { userId: 1, role: 'member' } as const;
const BOB = { userId: 2, role: 'member' } as const;
const ADMIN = { userId: 3, role: 'admin' } as const;
const VIEWER = { userId: 4, role: 'viewer' } as const;
const PAGE = { skip: 0, limit: 100 };
const now = 1_000;

function ghost(name: string, skills: string[] = [], namespace?: string): KindInput<'Ghost'> {
  return KIND_SCHEMAS.Ghost.parse({
    apiVersion: 'skillcell/v1',
    kind: 'Ghost',
    metadata: { name, namespace },
    spec: { systemPrompt: 'You help.', skills },
  });
}

function bot(name: string, ghostRef: { name: string; namespace?: string }, shell?: string): KindInput<'Bot'> {
  return KIND_SCHEMAS.Bot.parse({
    apiVersion: 'skillcell/v1',
    kind: 'Bot',
    metadata: { name },
    spec: { ghostRef, shell },
  });
}

function team(name: string, ...bots: string[]): KindInput<'Team'> {
  return KIND_SCHEMAS.Team.parse({
    apiVersion: 'skillcell/v1',
    kind: 'Team',
    metadata: { name },
    spec: { members: bots.map((one) => ({ botRef: { name: one } })) },
  });
}

async function skill(db: Kysely<Tables>, name: string, owner: number, bindShells?: string[]): Promise<number> {
  const text = skillText({ description: 'A skill.', ...(bindShells && { bindShells }) }, 'Body.');
  const bytes = Buffer.from(text);
  const described = describeSkill(new Map([['SKILL.md', { bytes, executable: false }]]), {
    name,
    isPublic: owner === 0,
  });
  const version = { ...described, bytes, fileSize: bytes.length, fileHash: 'hash' };
  return await storeSkill(db, version, { owner, namespace: 'default' }, now);
}

/** The error of a call, as a client gets it. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    (value) => ({ value }),
    (error: Error) => JSON.parse(JSON.stringify(error)) as unknown,
  );
}

describe('schemas of kinds', () => {
  const whole = { apiVersion: 'agent.wecode.io/v1', kind: 'Ghost', metadata: { name: 'g' }, spec: {} };

  it("Wegent's apiVersion is accepted, and an answer has ours", () => {
    const input = KIND_SCHEMAS.Ghost.parse(whole);
    expect(input).toMatchObject({ metadata: { name: 'g', namespace: 'default' }, spec: { skills: [] } });
  });

  it('the form of an answer is accepted as a request', () => {
    const form = kindForm({
      id: 7,
      userId: 1,
      kind: 'Ghost',
      name: 'g',
      namespace: 'default',
      slug: null,
      spec: { skills: ['a'] },
      revision: 1,
      readOnly: false,
      createdAt: now,
      updatedAt: now,
    });
    expect(form).toMatchObject({ apiVersion: 'skillcell/v1', metadata: { labels: { id: '7', user_id: '1' } } });
    expect(KIND_SCHEMAS.Ghost.parse(form)).toMatchObject({ spec: { skills: ['a'] } });
  });

  it.each([
    ['another apiVersion', { ...whole, apiVersion: 'v2' }],
    ['another kind', { ...whole, kind: 'Bot' }],
    ['an unknown field', { ...whole, extra: 1 }],
    ['an unknown field of the spec', { ...whole, spec: { model: 'x' } }],
    ['a name on two lines', { ...whole, metadata: { name: 'a\nb' } }],
    ['a name with an invisible character', { ...whole, metadata: { name: 'a\u200bb' } }],
    ['a name with a NUL', { ...whole, metadata: { name: 'a\0' } }],
    ['a namespace that is no slug', { ...whole, metadata: { name: 'a', namespace: 'A b' } }],
    ['101 skills', { ...whole, spec: { skills: Array.from({ length: 101 }, (_, index) => `s${index}`) } }],
  ])('%s is refused', (_what, value) => {
    expect(KIND_SCHEMAS.Ghost.safeParse(value).success).toBe(false);
  });
});

for (const system of share(['SQLite'] as const, ['PostgreSQL'] as const)) {
  onDatabase(system, (db) => {
    it('a ghost is created, read, changed and deleted', async () => {
      const created = await createKind(db(), ghost('life'), { owner: 1, now });
      expect(created).toMatchObject({ userId: 1, kind: 'Ghost', name: 'life', revision: 1, createdAt: now });
      expect(await getKind(db(), 'Ghost', created.id, ANN)).toEqual(created);
      const input = { ...ghost('life'), spec: { systemPrompt: 'Other.', skills: [] } };
      const changed = await updateKind(db(), created.id, input, { actor: ANN, revision: 1, now: 2_000 });
      expect(changed).toMatchObject({ revision: 2, spec: { systemPrompt: 'Other.' }, updatedAt: 2_000 });
      await deleteKind(db(), 'Ghost', created.id, ANN);
      expect(await refusal(getKind(db(), 'Ghost', created.id, ANN))).toMatchObject({ code: 'resource.not-found' });
    });

    it('a name is taken once an owner, kind and namespace', async () => {
      await createKind(db(), ghost('twice'), { owner: 1, now });
      expect(await refusal(createKind(db(), ghost('twice'), { owner: 1, now }))).toMatchObject({
        code: 'resource.exists',
      });
      await createKind(db(), ghost('twice', [], 'other'), { owner: 1, now });
      await createKind(db(), ghost('twice'), { owner: 2, now });
    });

    it('an update on top of an older revision, or with another name, is refused', async () => {
      const { id } = await createKind(db(), ghost('stale'), { owner: 1, now });
      await updateKind(db(), id, ghost('stale'), { actor: ANN, revision: 1, now });
      const options = { actor: ANN, revision: 1, now };
      expect(await refusal(updateKind(db(), id, ghost('stale'), options))).toMatchObject({ code: 'resource.changed' });
      expect(await refusal(updateKind(db(), id, ghost('moved'), { ...options, revision: 2 }))).toMatchObject({
        code: 'request.invalid',
      });
    });

    it('a list has the own and the public objects of its kind, by name and in pages', async () => {
      for (const name of ['list-c', 'list-a']) await createKind(db(), ghost(name, [], 'listed'), { owner: 1, now });
      await createKind(db(), ghost('list-b', [], 'listed'), { owner: 0, now });
      await createKind(db(), ghost('list-d', [], 'listed'), { owner: 2, now });
      const names = async (actor: typeof ANN | typeof VIEWER, page = {}): Promise<unknown> => {
        const { items, total } = await listKinds(db(), 'Ghost', actor, { ...PAGE, namespace: 'listed', ...page });
        return [items.map(({ name }) => name), total];
      };
      expect(await names(ANN)).toEqual([['list-a', 'list-b', 'list-c'], 3]);
      expect(await names(ANN, { skip: 1, limit: 1 })).toEqual([['list-b'], 3]);
      expect(await names(ANN, { name: 'list-c' })).toEqual([['list-c'], 1]);
      expect(await names(VIEWER)).toEqual([['list-a', 'list-b', 'list-c', 'list-d'], 4]);
      expect((await listKinds(db(), 'Bot', ANN, { ...PAGE, namespace: 'listed' })).total).toBe(0);
    });

    it("for a member, another user's id is a missing id", async () => {
      const { id } = await createKind(db(), ghost('private'), { owner: 1, now });
      const calls = (target: number): Promise<unknown>[] => [
        getKind(db(), 'Ghost', target, BOB),
        updateKind(db(), target, ghost('private'), { actor: BOB, revision: 1, now }),
        deleteKind(db(), 'Ghost', target, BOB),
        teamSkills(db(), target, BOB),
      ];
      const foreign = await Promise.all(calls(id).map(refusal));
      expect(foreign).toEqual(await Promise.all(calls(999_999).map(refusal)));
      expect(foreign).toEqual(await Promise.all(calls(2 ** 40).map(refusal)));
      expect(foreign[0]).toMatchObject({ code: 'resource.not-found' });
      expect(await refusal(getKind(db(), 'Bot', id, ANN))).toEqual(foreign[0]);
    });

    it('admins and viewers read everything, but only the owner changes it', async () => {
      const { id } = await createKind(db(), ghost('mine'), { owner: 1, now });
      for (const actor of [ADMIN, VIEWER]) {
        expect(await getKind(db(), 'Ghost', id, actor)).toMatchObject({ name: 'mine' });
        expect(await refusal(deleteKind(db(), 'Ghost', id, actor))).toMatchObject({ code: 'auth.forbidden' });
      }
    });

    it('only an admin changes a public object, and no user one of the package', async () => {
      const { id } = await createKind(db(), ghost('shared'), { owner: 0, now });
      expect(await refusal(deleteKind(db(), 'Ghost', id, ANN))).toMatchObject({ code: 'auth.forbidden' });
      await db().updateTable('kinds').set({ read_only: 1 }).where('id', '=', id).execute();
      expect(await refusal(deleteKind(db(), 'Ghost', id, ADMIN))).toMatchObject({ code: 'resource.read-only' });
      await db().updateTable('kinds').set({ read_only: 0 }).where('id', '=', id).execute();
      await deleteKind(db(), 'Ghost', id, ADMIN);
    });

    it('a reference takes the own object before the public one', async () => {
      const shared = await skill(db(), 'order', 0);
      const first = await createKind(db(), ghost('order-1', ['order']), { owner: 1, now });
      const own = await skill(db(), 'order', 1);
      const second = await createKind(db(), ghost('order-2', ['order', 'Order']), { owner: 1, now });
      const targets = async (id: number): Promise<number[]> =>
        (await db().selectFrom('kind_references').select('to_id').where('from_id', '=', id).execute()).map(
          ({ to_id }) => to_id,
        );
      expect(await targets(first.id)).toEqual([shared]);
      expect(await targets(second.id)).toEqual([own]);
      await updateKind(db(), first.id, ghost('order-1', ['order']), { actor: ANN, revision: 1, now });
      expect(await targets(first.id)).toEqual([own]);
      await updateKind(db(), first.id, ghost('order-1'), { actor: ANN, revision: 2, now });
      expect(await targets(first.id)).toEqual([]);
    });

    it('a reference takes the namespace that it names, else its own, else the default one', async () => {
      await createKind(db(), ghost('g', [], 'here'), { owner: 1, now });
      await createKind(db(), ghost('g', [], 'there'), { owner: 1, now });
      expect(await refusal(createKind(db(), bot('b1', { name: 'g' }), { owner: 1, now }))).toMatchObject({
        code: 'kind.reference-missing',
      });
      await createKind(db(), bot('b2', { name: 'g', namespace: 'there' }), { owner: 1, now });
      const input = bot('b3', { name: 'g' });
      input.metadata.namespace = 'here';
      await createKind(db(), input, { owner: 1, now });
    });

    it("a missing name, another user's and a private one of a public object are refused", async () => {
      await skill(db(), 'secret', 2);
      for (const [owner, name] of [
        [1, 'no-such-skill'],
        [1, 'secret'],
        [0, 'secret'],
      ] as const) {
        const made = createKind(db(), ghost(`missing-${owner}`, [name]), { owner, now });
        expect(await refusal(made)).toMatchObject({ code: 'kind.reference-missing' });
      }
      expect((await listKinds(db(), 'Ghost', ADMIN, { ...PAGE, name: 'missing-1' })).total).toBe(0);
    });

    it('an object that others refer to is not deleted, by the database itself', async () => {
      const { id } = await createKind(db(), ghost('held'), { owner: 1, now });
      const holder = await createKind(db(), bot('holder', { name: 'held' }), { owner: 1, now });
      expect(await refusal(deleteKind(db(), 'Ghost', id, ANN))).toMatchObject({
        code: 'resource.referenced',
        message: expect.stringContaining('Bot "holder"') as unknown,
      });
      await expect(db().deleteFrom('kinds').where('id', '=', id).execute()).rejects.toThrow(/foreign key/i);
      await deleteKind(db(), 'Bot', holder.id, ANN);
      await deleteKind(db(), 'Ghost', id, ANN);
    });

    it("a team's jobs may load the skills of its bots, by shell", async () => {
      await skill(db(), 'for-all', 1);
      await skill(db(), 'for-chat', 0, ['Chat']);
      await skill(db(), 'for-code', 0, ['ClaudeCode']);
      await createKind(db(), ghost('team-ghost', ['for-all', 'for-chat', 'for-code']), { owner: 1, now });
      await createKind(db(), bot('chatter', { name: 'team-ghost' }, 'Chat'), { owner: 1, now });
      await createKind(db(), bot('plain', { name: 'team-ghost' }), { owner: 1, now });
      const { id } = await createKind(db(), team('both', 'chatter', 'plain', 'chatter'), { owner: 1, now });
      const { skills, leftOut } = await teamSkills(db(), id, ANN);
      expect(skills.map(({ ref, bots }) => [ref, bots])).toEqual([
        ['custom.for-all', ['chatter', 'plain']],
        ['public.for-chat', ['chatter']],
      ]);
      expect(leftOut.map(({ name, bot: of, reason }) => [name, of, reason])).toEqual([
        ['for-chat', 'plain', 'The skill is for the shells "Chat"; the bot has none.'],
        ['for-code', 'chatter', 'The skill is for the shells "ClaudeCode", not for "Chat".'],
        ['for-code', 'plain', 'The skill is for the shells "ClaudeCode"; the bot has none.'],
      ]);
    });

    it('of two skills with one name, a team loads the own one', async () => {
      await skill(db(), 'double', 0);
      await createKind(db(), ghost('double-public', ['double']), { owner: 0, now });
      await skill(db(), 'double', 1);
      await createKind(db(), ghost('double-own', ['double']), { owner: 1, now });
      await createKind(db(), bot('double-a', { name: 'double-public' }), { owner: 1, now });
      await createKind(db(), bot('double-b', { name: 'double-own' }), { owner: 1, now });
      const { id } = await createKind(db(), team('doubles', 'double-a', 'double-b'), { owner: 1, now });
      const { skills, leftOut } = await teamSkills(db(), id, ANN);
      expect(skills.map(({ ref }) => ref)).toEqual(['custom.double']);
      expect(leftOut).toMatchObject([{ ref: 'public.double', bot: 'double-a' }]);
    });
  });
}
