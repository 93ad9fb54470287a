import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Orchestrator, OrchestratorOptions } from '../../../src/jobs/orchestrator.ts';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../../src/library/open-skill-library.ts';
import type { SkillLibrary, SkillLibraryOptions } from '../../../src/library/snapshot/skill-library.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../../src/library/stores/directory/directory-store.ts';
import { loadSkillsSubsystem } from '../../../src/skills/index.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

const where = (version: number): string => `import { z } from 'zod';
import { Tool } from '@agent/tools';
import { version } from './version';
let calls = 0;
export const Tools = [Tool.define('where', {
  description: 'Version ${version}.',
  parameters: z.object({ fail: z.boolean().default(false) }),
  async execute({ fail }, { job, skill }) {
    if (fail) throw new Error('no, in /srv/secret');
    return { pid: process.pid, version, calls: (calls += 1), job, skill };
  },
})];
`;
const files = {
  'where/SKILL.md': skillText({ name: 'where', description: 'Where.', toolsets: ['tools:Tools'] }, 'Body.'),
  'where/tools.ts': where(1),
  'where/version.ts': 'export const version = 1;\n',
  'needy/SKILL.md': skillText(
    { name: 'needy', description: 'N.', toolsets: ['tools:Tools'], dependencies: ['no-such-module'] },
    'Body.',
  ),
  'needy/tools.ts': 'export const Tools = [];\n',
  'thrower/SKILL.md': skillText({ name: 'thrower', description: 'T.', toolsets: ['tools:Tools'] }, 'Body.'),
  'thrower/tools.ts': 'throw null;\n',
  'snake/SKILL.md': skillText({ name: 'snake', description: 'S.', toolsets: ['tools:tools'] }, 'Body.'),
  'snake/tools.py': 'import os\n\n\ndef snake():\n    return os.getpid()\n\n\ntools = [snake]\n',
};

function hostOf(options: OrchestratorOptions): Orchestrator {
  return createOrchestrator({ skillCode: 'host', runners: [createLocalRunner()], allowUnisolated: true, ...options });
}

async function run(orchestrator: Orchestrator, skill: string, code: string): Promise<unknown> {
  const { value, stderr } = await orchestrator.exec({
    skills: { refs: [skill] },
    tools: ['*'],
    code: `import { tools } from 'skillcell'; export default ${code};`,
  });
  expect(stderr.text).toBe('');
  return value;
}

const copies = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`skillcell-${ownerName(currentOwner())}-code-`));

it('code of a trusted root runs in this process, and its imports come from a copy', async () => {
  using library = skillLibrary(files);
  const orchestrator = hostOf({ skills: library.subsystem, trustedSkillRoots: [`${library.root}/.`] });
  const value = await run(
    orchestrator,
    'custom.where',
    `[await tools.where({}), await tools.where({}), await tools.where({ fail: true }).catch(({ code, message }) => [code, message])]`,
  );
  const [first, second, third] = value as [Record<string, unknown>, Record<string, unknown>, unknown];
  expect(first).toMatchObject({ pid: process.pid, version: 1, calls: 1, skill: 'custom.where' });
  expect(second).toMatchObject({ calls: 2, job: first['job'] });
  expect(third).toEqual(['skill-code.failed', 'The code of custom.where failed: no, in [path].']);
  expect(copies()).toHaveLength(1);
  await orchestrator.close();
  expect(copies()).toEqual([]);
});

it('a new version is used after the next load', async () => {
  using library = skillLibrary(files);
  await using first = hostOf({ skills: library.subsystem, trustedSkillRoots: [library.root] });
  expect(await run(first, 'custom.where', 'await tools.where({})')).toMatchObject({ version: 1 });
  writeFileSync(join(library.root, 'where/tools.ts'), where(2));
  writeFileSync(join(library.root, 'where/version.ts'), 'export const version = 2;\n');
  await expect(run(first, 'custom.where', 'await tools.where({})')).rejects.toMatchObject({
    code: 'skills.digest-mismatch',
  });
  const skills = loadSkillsSubsystem({ descriptor: { custom_skills_root: library.root, agents_config: {} } });
  await using second = hostOf({ skills, trustedSkillRoots: [library.root] });
  expect(await run(second, 'custom.where', 'await tools.where({})')).toMatchObject({ version: 2 });
});

it('code of any other root is not loaded, in any language', async (context) => {
  using library = skillLibrary(files);
  await using orchestrator = hostOf({
    skills: library.subsystem,
    trustedSkillRoots: ['/srv', `${library.root}/where`],
  });
  for (const skill of ['custom.where', 'custom.snake'])
    await expect(run(orchestrator, skill, '1')).rejects.toMatchObject({
      code: 'skill-code.not-trusted',
      message: expect.stringContaining(skill) as string,
    });
  requireHere(context, MISSING_PYTHON);
  await using trusting = hostOf({ skills: library.subsystem, trustedSkillRoots: [library.root] });
  const pid = await run(trusting, 'custom.snake', 'await tools.snake({})');
  expect(pid, 'Python always has a sandbox').not.toBe(process.pid);
});

it('code of a store is never loaded for any kind, id and place of the store, but code of a folder of the library is', async () => {
  using written = skillLibrary(files);
  const { root } = written;
  const cacheDir = mkdtempSync(join(tmpdir(), 'host-cache-'));
  try {
    const made = createDirectoryStore({ path: root, kind: 'builtin', cache: openTreeCache(cacheDir) });
    const of = async (options: Partial<SkillLibraryOptions>): Promise<SkillLibrary> =>
      await openSkillLibrary({ stores: [], cacheDir, ...options });
    for (const copy of [true, false]) {
      for (const store of [made, { ...made, id: root }]) {
        await using stranger = await of({ stores: [store] });
        const skills = await stranger.subsystem({ copy });
        await using orchestrator = hostOf({ skills, trustedSkillRoots: [root, '.'] });
        await expect(run(orchestrator, 'public.where', '1')).rejects.toMatchObject({ code: 'skill-code.not-trusted' });
      }
    }
    await using own = await of({ builtinRoot: root });
    await using trusting = hostOf({ skills: own });
    expect(await run(trusting, 'public.where', 'await tools.where({})')).toMatchObject({ pid: process.pid });
  } finally {
    removeTree(cacheDir);
  }
});

it('code that cannot be loaded refuses the job, like in a sandbox', async () => {
  using library = skillLibrary(files);
  await using orchestrator = hostOf({ skills: library.subsystem, trustedSkillRoots: [library.root] });
  await expect(run(orchestrator, 'custom.needy', '1')).rejects.toMatchObject({
    code: 'skill-code.dependency-missing',
    message: expect.stringContaining('"no-such-module"') as string,
  });
  await expect(run(orchestrator, 'custom.thrower', '1')).rejects.toMatchObject({ code: 'skill-code.load-failed' });
});

it('built-in skills are trusted', async () => {
  using builtin = skillLibrary(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`public/${path}`, text])),
  );
  using library = skillLibrary({}, { builtinRoot: builtin.root });
  await using orchestrator = hostOf({ skills: library.subsystem });
  expect(await run(orchestrator, 'public.where', 'await tools.where({})')).toMatchObject({ pid: process.pid });
});
