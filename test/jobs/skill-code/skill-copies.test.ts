import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createSkillCopies } from '../../../src/jobs/skill-code/skill-copies.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

it('a copy holds the loaded files of the skill, is made once, and other bytes are refused', async () => {
  using library = skillLibrary({
    'one/SKILL.md': skillText({ name: 'one', description: 'One.' }, 'Body.'),
    'one/lib/a.mjs': 'export default 1;\n',
  });
  const copies = createSkillCopies();
  const [skill] = library.subsystem.skills;
  if (skill === undefined) throw new Error('There is no skill.');
  const tree = library.subsystem.skillTree(skill.id);
  const [folder, again] = await Promise.all([copies.folderOf(skill, tree), copies.folderOf(skill, tree)]);
  expect(again).toBe(folder);
  expect(folder.endsWith(skill.digest.slice('sha256:'.length))).toBe(true);
  expect(readFileSync(join(folder, 'lib/a.mjs'), 'utf8')).toBe('export default 1;\n');
  const changed = new Map(tree).set('lib/a.mjs', { bytes: Buffer.from('export default 2;\n'), executable: false });
  await expect(copies.folderOf(skill, changed)).rejects.toMatchObject({ code: 'skills.digest-mismatch' });
  await copies.close();
  expect(existsSync(folder)).toBe(false);
  await copies.close();
});

it('without a folder for temporary files, a copy fails with the reason', async () => {
  using library = skillLibrary({ 'one/SKILL.md': skillText({ name: 'one', description: 'One.' }, 'Body.') });
  const [skill] = library.subsystem.skills;
  if (skill === undefined) throw new Error('There is no skill.');
  vi.stubEnv('TMPDIR', '/dev/null/none');
  try {
    const copy = createSkillCopies().folderOf(skill, library.subsystem.skillTree(skill.id));
    await expect(copy).rejects.toMatchObject({ code: 'path.unusable', message: expect.stringContaining('ENOTDIR') });
  } finally {
    vi.unstubAllEnvs();
  }
});
