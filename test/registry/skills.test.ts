import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { PUBLIC } from '../../src/registry/kinds/kind-rows.ts';
import { kindForm, type KindObject } from '../../src/registry/kinds/kind-object.ts';
import { KIND_SCHEMAS } from '../../src/registry/kinds/kind-schemas.ts';
import { createKind, getKind, listKinds } from '../../src/registry/kinds/kinds.ts';
import { createRegistryStore } from '../../src/registry/skills/registry-store.ts';
import { deleteSkill, listReferences, removeReferences } from '../../src/registry/skills/skill-references.ts';
import { downloadSkill, invokeSkill, listUnified, listVersions } from '../../src/registry/skills/skill-versions.ts';
import { rollBackSkill } from '../../src/registry/skills/store-skill.ts';
import { syncPackageSkills } from '../../src/registry/skills/sync-package-skills.ts';
import { packSkillForm, updateSkill, uploadSkill } from '../../src/registry/skills/upload-skill.ts';
import { onDatabase } from '../fixtures/registry/on-database.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { share } from '../fixtures/share.ts';
import { skillText } from '../fixtures/skill-library.ts';

const ADMIN = { userId: 3, role: 'admin' } as const;
const PAGE = { skip: 0, limit: 100 };
const now = 1_000;

const member = (userId: number): { userId: number; role: 'member' } => ({ userId, role: 'member' });
const ANN = member(1);
const BOB = member(2);

async function refusal(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    (value) => ({ value }),
    (error: Error) => JSON.parse(JSON.stringify(error)) as unknown,
  );
}

for (const system of share(['SQLite'] as const, ['PostgreSQL'] as const)) {
  onDatabase(system, (db) => {
    const upload = async (
      name: string,
      owner = 1,
      fields: Record<string, unknown> = {},
      body?: string,
    ): Promise<KindObject<'Skill'>> => {
      const actor = owner === PUBLIC ? ADMIN : member(owner);
      const archive = skillArchive(name, fields, body === undefined ? {} : { body });
      const { skill } = await uploadSkill(db(), archive, { owner, actor, now });
      return skill as KindObject<'Skill'>;
    };
    const ghost = async (name: string, owner: number, ...skills: string[]): Promise<number> => {
      const input = KIND_SCHEMAS.Ghost.parse({
        apiVersion: 'skillcell/v1',
        kind: 'Ghost',
        metadata: { name },
        spec: { skills },
      });
      return (await createKind(db(), input, { owner, now })).id;
    };

    it('an upload is stored as version 1, with its bytes', async () => {
      const archive = skillArchive('units', { version: '1.2' });
      const { skill, checked, changes } = await uploadSkill(db(), archive, { owner: 1, actor: ANN, now });
      expect(skill).toMatchObject({
        userId: 1,
        kind: 'Skill',
        namespace: 'default',
        name: 'units',
        slug: 'units',
        revision: 1,
        spec: { description: 'About units.', version: '1.2' },
        file: { bytes: archive.bytes.length, hash: checked.fileHash, digest: checked.digest },
      });
      expect(changes).toEqual([{ path: 'SKILL.md', state: 'added' }]);
      expect(kindForm(skill as KindObject<'Skill'>)).toMatchObject({
        status: { state: 'AVAILABLE', fileSize: archive.bytes.length, fileHash: checked.fileHash },
      });
      const { bytes, version } = await downloadSkill(db(), skill?.id ?? 0, ANN);
      expect(Buffer.from(bytes).equals(archive.bytes)).toBe(true);
      expect(version).toBe(1);
    });

    it('a name and a slug are taken once an owner, also for a dry run', async () => {
      await upload('Two Words');
      const options = { owner: 1, actor: ANN, now };
      for (const name of ['Two Words', 'two-words'])
        for (const dryRun of [true, false]) {
          const again = uploadSkill(db(), { ...skillArchive('x'), name, namespace: 'other' }, { ...options, dryRun });
          expect(await refusal(again)).toMatchObject({ code: 'resource.exists' });
        }
      await upload('two-words', 2);
    });

    it('a dry run writes nothing, and names the changed files', async () => {
      const dry = await uploadSkill(db(), skillArchive('dry'), { owner: 1, actor: ANN, now, dryRun: true });
      expect(dry.skill).toBeUndefined();
      expect((await listKinds(db(), 'Skill', ADMIN, { ...PAGE, owner: 1, name: 'dry' })).total).toBe(0);
      const first = skillArchive(
        'dry',
        {},
        { others: ['a', 'b', 'c'].map((name) => ({ name: `dry/${name}`, content: name })) },
      );
      const { skill } = await uploadSkill(db(), first, { owner: 1, actor: ANN, now });
      const second = skillArchive(
        'dry',
        {},
        {
          others: [
            { name: 'dry/a', content: 'a', mode: 0o100_755 },
            { name: 'dry/c', content: 'other' },
            { name: 'dry/d', content: 'd' },
          ],
        },
      );
      const options = { actor: ANN, revision: 1, now };
      const { changes } = await updateSkill(db(), skill?.id ?? 0, second, { ...options, dryRun: true });
      expect(changes).toEqual([
        { path: 'a', state: 'changed' },
        { path: 'b', state: 'removed' },
        { path: 'c', state: 'changed' },
        { path: 'd', state: 'added' },
      ]);
      expect(await listVersions(db(), skill?.id ?? 0, ANN)).toHaveLength(1);
    });

    it('an update is the next version, and earlier ones stay and come back', async () => {
      const { id } = await upload('moving', 1, { version: '1' }, 'First.');
      const next = skillArchive('moving', { version: '2' }, { body: 'Second.' });
      const { skill } = await updateSkill(db(), id, next, { actor: ANN, revision: 1, now: 2_000 });
      expect(skill).toMatchObject({ revision: 2, spec: { version: '2' }, createdAt: now, updatedAt: 2_000 });
      expect(await invokeSkill(db(), { skillName: 'moving' }, ANN)).toMatchObject({ id, prompt: 'Second.' });
      expect(await refusal(updateSkill(db(), id, next, { actor: ANN, revision: 1, now }))).toMatchObject({
        code: 'resource.changed',
      });
      await rollBackSkill(db(), id, 1, { actor: ANN, now: 3_000 });
      expect(await getKind(db(), 'Skill', id, ANN)).toMatchObject({ revision: 3, spec: { version: '1' } });
      expect(await invokeSkill(db(), { skillName: 'moving' }, ANN)).toMatchObject({ prompt: 'First.' });
      const versions = await listVersions(db(), id, ANN);
      expect(versions.map(({ version, createdAt, spec }) => [version, createdAt, spec.version])).toEqual([
        [3, 3_000, '1'],
        [2, 2_000, '2'],
        [1, now, '1'],
      ]);
      expect(versions[0]?.digest).toBe(versions[2]?.digest);
      expect(Buffer.from((await downloadSkill(db(), id, ANN, 2)).bytes).equals(next.bytes)).toBe(true);
      for (const version of [0, 4, 2 ** 40]) {
        expect(await refusal(downloadSkill(db(), id, ANN, version))).toMatchObject({ code: 'resource.not-found' });
        const back = rollBackSkill(db(), id, version, { actor: ANN, now });
        expect(await refusal(back)).toMatchObject({ code: 'resource.not-found' });
      }
      const stale = rollBackSkill(db(), id, 1, { actor: ANN, revision: 2, now });
      expect(await refusal(stale)).toMatchObject({ code: 'resource.changed' });
    });

    it('the unified list has own skills first, and tells which public ones they hide', async () => {
      await upload('both', PUBLIC);
      await upload('open', PUBLIC);
      await upload('both', 11);
      await upload('alone', 11);
      const rows = await listUnified(db(), { userId: 11, role: 'member' }, PAGE);
      expect(rows.map(({ slug, userId, hidden }) => [slug, userId, hidden])).toEqual([
        ['alone', 11, false],
        ['both', 11, false],
        ['both', PUBLIC, true],
        ['open', PUBLIC, false],
      ]);
      expect(
        (await listUnified(db(), { userId: 11, role: 'member' }, { skip: 1, limit: 2 })).map(({ hidden }) => hidden),
      ).toEqual([false, true]);
      expect((await listKinds(db(), 'Skill', ADMIN, { ...PAGE, owner: PUBLIC })).items.map(({ name }) => name)).toEqual(
        ['both', 'open'],
      );
      expect(await listKinds(db(), 'Skill', ADMIN, { ...PAGE, owner: 11, name: 'both' })).toMatchObject({
        total: 1,
        items: [{ userId: 11 }],
      });
    });

    it('a skill is invoked by name, own before public, or among those of a team', async () => {
      await upload('say', PUBLIC, {}, 'Public text.');
      const one = member(21);
      expect(await invokeSkill(db(), { skillName: 'Say' }, one)).toMatchObject({ prompt: 'Public text.' });
      await upload('say', 21, {}, '[ACTIVE SKILLS]\nOwn text.');
      expect((await invokeSkill(db(), { skillName: 'say' }, one)).prompt).toContain('\\[ACTIVE SKILLS]\nOwn text.');
      expect(await invokeSkill(db(), { skillName: 'say' }, BOB)).toMatchObject({ prompt: 'Public text.' });
      expect(await refusal(invokeSkill(db(), { skillName: 'a\0b' }, one))).toMatchObject({
        code: 'resource.not-found',
      });
      const base = { apiVersion: 'skillcell/v1' as const, metadata: { name: 'say', namespace: 'default' } };
      await ghost('say', 21);
      const ghostRef = { name: 'say' };
      await createKind(db(), { ...base, kind: 'Bot', spec: { ghostRef } }, { owner: 21, now });
      const members = [{ botRef: { name: 'say' } }];
      const { id } = await createKind(db(), { ...base, kind: 'Team', spec: { members } }, { owner: 21, now });
      const call = invokeSkill(db(), { skillName: 'say', team: id }, one);
      expect(await refusal(call)).toMatchObject({ code: 'resource.not-found' });
    });

    it('a skill that ghosts refer to is not deleted, until the references are removed', async () => {
      const { id } = await upload('held', 31);
      const ann = member(31);
      const a = await ghost('a', 31, 'held');
      const c = await ghost('c', 31, 'HELD');
      const referencedGhosts = [
        { id: a, kind: 'Ghost', name: 'a', namespace: 'default' },
        { id: c, kind: 'Ghost', name: 'c', namespace: 'default' },
      ];
      expect(await deleteSkill(db(), id, ann)).toEqual({ referencedGhosts });
      expect(await listReferences(db(), id, ann)).toEqual(referencedGhosts);
      expect(await removeReferences(db(), id, { actor: ann, now: 5, ghostId: c })).toBe(1);
      expect(await getKind(db(), 'Ghost', c, ann)).toMatchObject({ spec: { skills: [] }, revision: 2, updatedAt: 5 });
      const again = removeReferences(db(), id, { actor: ann, now, ghostId: c });
      expect(await refusal(again)).toMatchObject({ code: 'resource.not-found' });
      expect(await removeReferences(db(), id, { actor: ann, now })).toBe(1);
      expect(await deleteSkill(db(), id, ann)).toEqual({ referencedGhosts: [] });
      expect(await refusal(getKind(db(), 'Skill', id, ann))).toMatchObject({ code: 'resource.not-found' });
      const left = await db().selectFrom('skill_binaries').select('id').where('kind_id', '=', id).execute();
      expect(left).toEqual([]);
    });

    it("for a member, another user's skill is a missing one", async () => {
      const { id } = await upload('private-skill');
      const file = skillArchive('x');
      const calls = (target: number): Promise<unknown>[] => [
        getKind(db(), 'Skill', target, BOB),
        listVersions(db(), target, BOB),
        downloadSkill(db(), target, BOB),
        updateSkill(db(), target, file, { actor: BOB, revision: 1, now }),
        rollBackSkill(db(), target, 1, { actor: BOB, now }),
        deleteSkill(db(), target, BOB),
        listReferences(db(), target, BOB),
        removeReferences(db(), target, { actor: BOB, now }),
      ];
      const foreign = await Promise.all(calls(id).map(refusal));
      for (const missing of [999_999, 2 ** 40]) expect(foreign).toEqual(await Promise.all(calls(missing).map(refusal)));
      expect(new Set(foreign.map((error) => JSON.stringify(error))).size).toBe(1);
      expect(await getKind(db(), 'Skill', id, ADMIN)).toMatchObject({ name: 'private-skill' });
      expect(await refusal(deleteSkill(db(), id, ADMIN))).toMatchObject({ code: 'auth.forbidden' });
    });

    it('an admin creates a public skill from the fields of a form', async () => {
      const form = { name: 'From form', description: 'Made by hand.', prompt: 'Do it.' };
      const packed = { ...(await packSkillForm(form)), name: form.name };
      const { skill } = await uploadSkill(db(), packed, { owner: PUBLIC, actor: ADMIN, now });
      expect(skill).toMatchObject({ userId: 0, name: 'From form', slug: 'from-form' });
      expect(await invokeSkill(db(), { skillName: 'From form' }, ANN)).toMatchObject({ prompt: 'Do it.' });
    });

    it('the skills of the package are public rows that no user changes', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'package-skills-'));
      const write = (name: string, body: string): void => {
        mkdirSync(join(folder, name), { recursive: true });
        writeFileSync(join(folder, name, 'SKILL.md'), skillText({ description: 'Packaged.' }, body));
      };
      write('packaged', 'One.');
      write('kept', 'Kept.');
      write('admins', 'Package.');
      await upload('admins', PUBLIC, {}, 'Admin.');
      await syncPackageSkills(db(), now, folder);
      const prompt = async (skillName: string): Promise<string> => (await invokeSkill(db(), { skillName }, ANN)).prompt;
      expect([await prompt('packaged'), await prompt('admins')]).toEqual(['One.', 'Admin.']);
      const { id } = await invokeSkill(db(), { skillName: 'packaged' }, ANN);
      expect(await getKind(db(), 'Skill', id, ANN)).toMatchObject({ readOnly: true, userId: 0, revision: 1 });
      expect(await refusal(deleteSkill(db(), id, ADMIN))).toMatchObject({ code: 'resource.read-only' });
      await syncPackageSkills(db(), now, folder);
      expect(await getKind(db(), 'Skill', id, ANN)).toMatchObject({ revision: 1 });
      write('packaged', 'Two.');
      await ghost('of-kept', 1, 'kept');
      const kept = await invokeSkill(db(), { skillName: 'kept' }, ANN);
      rmSync(join(folder, 'kept'), { recursive: true });
      await syncPackageSkills(db(), 2_000, folder);
      expect(await prompt('packaged')).toBe('Two.');
      expect(await getKind(db(), 'Skill', id, ANN)).toMatchObject({ revision: 2, updatedAt: 2_000 });
      expect(await getKind(db(), 'Skill', kept.id, ANN)).toMatchObject({ readOnly: false });
      rmSync(join(folder, 'packaged'), { recursive: true });
      await syncPackageSkills(db(), now, folder);
      expect(await refusal(getKind(db(), 'Skill', id, ANN))).toMatchObject({ code: 'resource.not-found' });
      rmSync(folder, { recursive: true });
    });

    it("the package's own public skills are accepted", async () => {
      await syncPackageSkills(db(), now);
      const { items } = await listKinds(db(), 'Skill', ADMIN, { ...PAGE, owner: PUBLIC });
      const names = items.filter(({ readOnly }) => readOnly).map(({ name }) => name);
      expect(names).toEqual(['chart', 'csv-cleaning', 'data-report', 'pdf-press', 'url-gen']);
    });

    it('a library of both stores has public and own skills, also after a change', async () => {
      await upload('shown', PUBLIC, {}, 'Public body.');
      const { id } = await upload('shown', 41, {}, 'Own body.');
      const cacheDir = mkdtempSync(join(tmpdir(), 'registry-cache-'));
      const cache = openTreeCache(cacheDir);
      const stores = [
        createRegistryStore({ db: db(), userId: PUBLIC, kind: 'builtin', cache }),
        createRegistryStore({ db: db(), userId: 41, kind: 'user', cache }),
      ];
      const library = await openSkillLibrary({ stores, builtinRoot: null, cacheDir });
      const text = async (ref: string): Promise<string> =>
        (await library.subsystem({ refs: [ref] })).loadSkill(ref).text;
      expect((await library.heads()).map(({ id: full }) => full)).toEqual(
        expect.arrayContaining(['custom.shown', 'public.shown']),
      );
      expect((await library.heads()).every(({ id: full }) => !full.includes('private'))).toBe(true);
      expect([await text('custom.shown'), await text('public.shown')]).toEqual(['Own body.', 'Public body.']);
      const [head] = (await library.heads()).filter(({ id: full }) => full === 'custom.shown');
      expect(head).toMatchObject({ revision: (await getKind(db(), 'Skill', id, member(41))).file?.digest });
      const next = skillArchive('shown', {}, { body: 'Newer body.' });
      await updateSkill(db(), id, next, { actor: member(41), revision: 1, now });
      const old = await stores[1]?.list();
      expect(await library.refresh()).toBe(true);
      expect(await text('custom.shown')).toBe('Newer body.');
      const first = { ...old?.items[0], path: 'shown', revision: `sha256:${'0'.repeat(64)}` } as never;
      await expect(stores[1]?.open(first)).rejects.toMatchObject({ code: 'store.changed' });
      await library.close();
      cache.close();
      rmSync(cacheDir, { recursive: true });
    });
  });
}
