import { expect, it } from 'vitest';
import type { SkillTree } from '../../../../src/contracts/skills/skill.ts';
import { type Publication, PUBLICATION_FILE, readPublication } from '../../../../src/library/stores/s3/publication.ts';
import { putSkill } from '../../../../src/library/stores/s3/put-skill.ts';
import type { S3Access } from '../../../../src/library/stores/s3/s3-access.ts';
import type { SkillState } from '../../../../src/library/stores/s3/skill-state.ts';
import { skillText } from '../../../fixtures/source-of.ts';

const TREE: SkillTree = new Map([['SKILL.md', { bytes: Buffer.from(skillText('units')), executable: false }]]);

it('an abort while files are put at their places ends the call, and the skill stays published', async () => {
  let published: Publication | undefined;
  const caller = new AbortController();
  const access: Partial<S3Access> = {
    requireConditions: async () => undefined,
    async write(key, body) {
      if (key === `units/${PUBLICATION_FILE}`) published = readPublication(body);
      return 'etag';
    },
    async copy(_from, _to, signal) {
      caller.abort(new Error('enough'));
      signal?.throwIfAborted();
      return 'etag';
    },
    remove: async () => undefined,
  };
  const state = async (): Promise<SkillState> => ({
    revision: published?.write ?? null,
    files: [],
    skillFile: undefined,
    publication: published === undefined ? undefined : { etag: 'etag', value: published },
    plain: new Map(),
    staged: [],
    diagnostics: [],
  });
  const folder = { access: access as S3Access, key: 'units/', path: 'units', state };
  await expect(putSkill(folder, TREE, { ifRevision: null, signal: caller.signal })).rejects.toThrow('enough');
  expect(published).toMatchObject({ state: 'staged', files: [{ path: 'SKILL.md' }] });
});
