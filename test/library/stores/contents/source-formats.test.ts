import { describe, expect, it } from 'vitest';
import { findContents, type FindOptions } from '../../../../src/library/stores/contents/find-contents.ts';
import type { SourceFiles } from '../../../../src/library/stores/contents/source-files.ts';
import { skillText, sourceOf } from '../../../fixtures/source-of.ts';

const MARKET = '.claude-plugin/marketplace.json';

async function come(files: SourceFiles, options?: FindOptions): Promise<{ skills: string[]; codes: string[] }> {
  const { skills, diagnostics } = await findContents(files, options);
  return {
    skills: skills.map(({ folder, plugin }) => (plugin === undefined ? folder : `${folder} of ${plugin}`)),
    codes: diagnostics.map(({ code, path }) => `${code} ${path ?? ''}`),
  };
}

const skills = (...folders: string[]): Record<string, string> =>
  Object.fromEntries(
    folders.map((folder) => [
      folder === '.' ? 'SKILL.md' : `${folder}/SKILL.md`,
      skillText(folder.split('/').at(-1) ?? ''),
    ]),
  );

describe('source formats: folders', () => {
  it.each([
    ['namespaces', ['public/units', 'internal/units']],
    ['categories', ['office/units']],
    ['Agent Skills', ['units']],
    ['the root itself', ['.']],
    ['.agents/skills', ['.agents/skills/units']],
    ['.claude/skills', ['.claude/skills/units']],
    ['skills/', ['skills/units']],
  ])('finds skills in %s', async (_, folders) => {
    expect(await come(sourceOf(skills(...folders)))).toEqual({ skills: folders.toSorted(), codes: [] });
  });

  it('reads other spellings of SKILL.md, and reports a folder of that name', async () => {
    const files = sourceOf({ 'a/skill.md': skillText('a'), 'b/Skill.md': skillText('b'), 'c/SKILL.md/x': 'x' });
    const { skills: found } = await findContents(files);
    expect(found.map(({ folder, skillFile }) => `${folder}/${skillFile}`)).toEqual(['a/skill.md', 'b/Skill.md']);
    expect((await come(files)).codes).toEqual(['skill.unreadable c/SKILL.md']);
  });

  it('lists the regular files of a skill with their paths below it', async () => {
    const [found] = (await findContents(sourceOf({ ...skills('a/b'), 'a/b/scripts/run.sh': 'x', 'a/c': 'x' }))).skills;
    expect(found?.files.map(({ path, bytes }) => [path, bytes])).toEqual([
      ['SKILL.md', skillText('b').length],
      ['scripts/run.sh', 1],
    ]);
  });

  it('reports a SKILL.md below another skill, and takes it only on request', async () => {
    const files = sourceOf(skills('a', 'a/deep/b'));
    expect(await come(files)).toEqual({ skills: ['a'], codes: ['skill.nested a/deep/b/SKILL.md'] });
    expect(await come(files, { nested: true })).toEqual({ skills: ['a', 'a/deep/b'], codes: [] });
  });

  it('reports links, submodules and devices, in a skill and beside it, and takes none', async () => {
    const files = sourceOf(skills('a', 'z'), [
      { path: 'linked', kind: 'link' },
      { path: 'a/SECRET.md', kind: 'link' },
      { path: 'z/module', kind: 'submodule' },
      { path: 'b/SKILL.md', kind: 'link' },
      { path: 'fifo', kind: 'other' },
    ]);
    expect(await come(files)).toEqual({
      skills: ['a', 'z'],
      codes: [
        'skill.link linked',
        'source.left-out fifo',
        'skill.link b/SKILL.md',
        'skill.link a/SECRET.md',
        'source.submodule z/module',
      ],
    });
  });

  it.each(['.git', '.GIT', 'git~1', 'GIT~1', '.g\u200cit', 'node_modules'])(
    'leaves %j out in every folder',
    async (name) => {
      const files = sourceOf({ ...skills('a', `${name}/b`), [`a/${name}/hooks/post-checkout`]: 'x' });
      const { skills: found, diagnostics } = await findContents(files);
      expect(found.map(({ files: listed }) => listed.map(({ path }) => path))).toEqual([['SKILL.md']]);
      expect(diagnostics.map(({ code }) => code)).toEqual(['source.left-out', 'source.left-out']);
    },
  );

  it.each(['../a/SKILL.md', '/a/SKILL.md', 'a/../../b/SKILL.md', 'a\\b/SKILL.md', 'a//SKILL.md', 'a/\u0007/SKILL.md'])(
    'leaves out a name that cannot be the path of a file: %j',
    async (path) => {
      expect(await come(sourceOf({ [path]: skillText('a') }))).toEqual({ skills: [], codes: [`skill.path ${path}`] });
    },
  );

  it('reports a file with the name of a folder, and a repeated name', async () => {
    const files = sourceOf({ ...skills('a'), 'a/x': 'x', 'a/x/y': 'y' });
    const twice = {
      ...files,
      entries: [...files.entries, ...files.entries.filter(({ path }) => path === 'a/SKILL.md')],
    };
    expect((await come(twice)).codes).toEqual(['skill.path a/SKILL.md']);
    expect((await findContents(twice)).diagnostics[0]?.message).toContain('a/x');
  });

  it.each([
    ['case', 'README.md', 'readme.MD'],
    ['case of a folder', 'Data/x', 'data/y'],
    ['composed accents', 'caf\u00e9.md', 'cafe\u0301.md'],
    ['a full-width letter', '\uff21.md', 'a.md'],
  ])('leaves out a skill with names that collide on some systems: %s', async (_, one, other) => {
    const files = sourceOf({ ...skills('a', 'b'), [`a/${one}`]: 'x', [`a/${other}`]: 'x' });
    const { skills: found, diagnostics } = await findContents(files);
    expect(found.map(({ folder }) => folder)).toEqual(['b']);
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: 'source.collision',
        path: 'a',
        message: expect.stringMatching(/ are one on some systems, ".+" and ".+"\.$/),
      }),
    ]);
    // In different skills, both names are allowed.
    const apart = sourceOf({
      ...skills('a', 'b'),
      [`a/${one}`]: 'x',
      [`b/${other}`]: 'x',
      'README.md': '',
      'ReadMe.md': '',
    });
    expect((await findContents(apart)).skills).toHaveLength(2);
    const spelt = sourceOf({ ...skills('a', 'b'), 'a/Skill.md': 'x' });
    expect((await findContents(spelt)).skills.map(({ folder }) => folder)).toEqual(['b']);
  });

  it('reports SKILL.md files below the depth of a search', async () => {
    const files = sourceOf(skills('1/2/3/4/5/6/7'));
    expect(await come(files)).toEqual({ skills: [], codes: ['root.depth 1/2/3/4/5/6/7'] });
    expect((await findContents(files)).diagnostics[0]?.message).toContain('1/2/3/4/5/6/7/SKILL.md');
  });

  it('leaves out a skill of too many bytes', async () => {
    const files = sourceOf(skills('a', 'b'));
    const entries = files.entries.map((entry) => (entry.path === 'a/SKILL.md' ? { ...entry, bytes: 2 ** 30 } : entry));
    expect(await come({ ...files, entries })).toEqual({ skills: ['b'], codes: ['skill.too-large a'] });
  });

  it('reports pointers of Git LFS where .gitattributes mentions LFS', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n`;
    const files = { ...skills('a'), 'a/model.bin': pointer };
    expect((await come(sourceOf(files))).codes).toEqual([]);
    expect((await come(sourceOf({ ...files, '.gitattributes': '*.bin filter=lfs -text\n' }))).codes).toEqual([
      'source.lfs a/model.bin',
    ]);
  });
});

describe('source formats: marketplaces and plugins', () => {
  it('reads a marketplace whose plugins list the skills of the source, without own files', async () => {
    const files = sourceOf({
      ...skills('skills/xlsx', 'skills/docx', 'skills/art', 'template'),
      [MARKET]: {
        name: 'agent-skills',
        owner: { name: 'Team' },
        metadata: { description: 'Examples', version: '1.0.0' },
        plugins: [
          {
            name: 'documents',
            source: './',
            strict: false,
            skills: ['./skills/xlsx', './skills/docx'],
          },
          { name: 'examples', source: './', strict: false, skills: ['./skills/art'] },
        ],
      },
    });
    expect(await come(files)).toEqual({
      skills: ['skills/art of examples', 'skills/docx of documents', 'skills/xlsx of documents', 'template'],
      codes: [],
    });
  });

  it.each([
    ['plugins in folders of their own', undefined, './plugins/press', 'plugins/press/skills/pdf'],
    ['a pluginRoot and a bare name', './plugins', 'press', 'plugins/press/skills/pdf'],
    ['a pluginRoot and a path below it', './plugins', './press', 'plugins/press/skills/pdf'],
    ['a pluginRoot and a path from the root of the source', './plugins', './plugins/press', 'plugins/press/skills/pdf'],
  ])('reads %s', async (_, pluginRoot, source, folder) => {
    const metadata = pluginRoot === undefined ? {} : { pluginRoot };
    const files = sourceOf({ ...skills(folder), [MARKET]: { metadata, plugins: [{ name: 'press', source }] } });
    expect(await come(files)).toEqual({ skills: [`${folder} of press`], codes: [] });
  });

  it.each([
    ['a text', './more'],
    ['a list', ['./more/one', './more/two']],
    ['a list without dots', ['more/one/', 'more/two/SKILL.md']],
  ])('takes the skills that a plugin.json lists as %s, and the ones in skills/', async (_, listed) => {
    const files = sourceOf({
      ...skills('p/skills/usual', 'p/more/one', 'p/more/two', 'p/else/three'),
      'p/.claude-plugin/plugin.json': { name: 'press', skills: listed },
      [MARKET]: { plugins: [{ name: 'called', source: './p' }] },
    });
    expect((await come(files)).skills).toEqual([
      'p/else/three',
      'p/more/one of called',
      'p/more/two of called',
      'p/skills/usual of called',
    ]);
  });

  it('reads plugins that no marketplace lists, of both kinds', async () => {
    const files = sourceOf({
      ...skills('skills/one', 'plugins/two/skills/two'),
      '.claude-plugin/plugin.json': { name: 'whole' },
      'plugins/two/.codex-plugin/plugin.json': { description: 'no name' },
    });
    expect((await come(files)).skills).toEqual(['plugins/two/skills/two of two', 'skills/one of whole']);
  });

  it('reads the marketplace of .agents with its local sources', async () => {
    const files = sourceOf({
      ...skills('plugins/notes/skills/note'),
      '.agents/plugins/marketplace.json': {
        plugins: [{ name: 'notes', source: { source: 'local', path: './plugins/notes' }, policy: {} }],
      },
    });
    expect(await come(files)).toEqual({ skills: ['plugins/notes/skills/note of notes'], codes: [] });
  });

  it('takes a skill once that two plugins list, for the first of them', async () => {
    const files = sourceOf({
      ...skills('skills/one', 'skills/two'),
      [MARKET]: {
        plugins: [
          { name: 'all', source: './' },
          { name: 'a', source: './', skills: ['./skills/one'] },
          { name: 'b', source: './', skills: ['./skills/one', './skills/one/'] },
        ],
      },
    });
    expect(await come(files)).toEqual({
      skills: ['skills/one of a', 'skills/two of all'],
      codes: ['source.twice skills/one'],
    });
  });

  it('does not read the plugin.json of a plugin with strict: false', async () => {
    const files = sourceOf({
      ...skills('p/skills/one', 'p/more/two'),
      'p/.claude-plugin/plugin.json': { name: 'own', skills: './more' },
      [MARKET]: { plugins: [{ name: 'p', source: './p', strict: false, skills: './skills/one' }] },
    });
    expect(await come(files)).toEqual({ skills: ['p/more/two', 'p/skills/one of p'], codes: [] });
  });

  it('finds listed skills below the depth of a search, but none below another skill', async () => {
    const deep = '1/2/3/4/5/6/7/8';
    const files = sourceOf({
      ...skills(deep, 'a', 'a/b'),
      [MARKET]: { plugins: [{ name: 'p', source: './', skills: [`./${deep}`, './a/b'] }] },
    });
    expect(await come(files)).toEqual({
      skills: [`${deep} of p`, 'a'],
      codes: ['skill.nested a/b/SKILL.md', 'root.depth 1/2/3/4/5/6/7'],
    });
    expect((await come(files, { nested: true })).skills).toEqual([`${deep} of p`, 'a', 'a/b of p']);
  });

  it('returns the places of plugins in other repositories, with their commits', async () => {
    const commit = 'ab'.repeat(20);
    const files = sourceOf({
      [MARKET]: {
        plugins: [
          { name: 'a', source: { source: 'github', repo: 'owner/name', ref: 'v1' } },
          { name: 'b', source: { source: 'url', url: 'https://git.test/b.git', sha: commit.toUpperCase() } },
          {
            name: 'c',
            source: { source: 'git-subdir', url: 'https://git.test/c.git', path: './p/c', sha: commit },
            skills: './s',
          },
          { name: 'd', source: { source: 'git-subdir', url: 'owner/name', path: 'p' }, strict: false },
        ],
      },
    });
    const { elsewhere } = await findContents(files);
    expect(elsewhere).toEqual([
      { plugin: 'a', url: 'https://github.com/owner/name.git', folder: '.', ref: 'v1', strict: true },
      { plugin: 'b', url: 'https://git.test/b.git', folder: '.', commit, strict: true },
      { plugin: 'c', url: 'https://git.test/c.git', folder: 'p/c', commit, skills: ['./s'], strict: true },
      { plugin: 'd', url: 'https://github.com/owner/name.git', folder: 'p', strict: false },
    ]);
    expect((await come(files)).codes).toEqual(Array.from({ length: 4 }, () => `source.elsewhere ${MARKET}`));
  });

  it('reads a source as a plugin of a marketplace elsewhere, and reports other skills', async () => {
    const files = sourceOf({ ...skills('skills/one', 'extra/two', 'three'), [MARKET]: { plugins: [] } });
    expect(await come(files, { plugin: { plugin: 'p', skills: ['./extra/two'], strict: false } })).toEqual({
      skills: ['extra/two of p'],
      codes: ['source.left-out skills/one'],
    });
    expect((await come(files, { plugin: { plugin: 'p', strict: true } })).skills).toEqual(['skills/one of p']);
  });

  it.each([
    ['npm', { source: 'npm', package: '@a/b' }, 'source.unsupported'],
    ['pip', { source: 'pip', package: 'b' }, 'source.unsupported'],
    ['nothing', undefined, 'source.manifest'],
    ['a number', 7, 'source.manifest'],
    ['a path above the source', '../evil', 'source.path'],
    ['a path that leaves the source and returns', './a/../../evil', 'source.path'],
    ['an absolute path', '/etc', 'source.path'],
    ['a path with a backslash', '.\\..\\evil', 'source.path'],
    ['a local path above the source', { source: 'local', path: '../../x' }, 'source.path'],
    ['an invalid repo', { source: 'github', repo: '--upload-pack=x/y z' }, 'source.manifest'],
    ['ssh', { source: 'url', url: 'git@github.com:a/b.git' }, 'source.unsupported'],
    ['a program', { source: 'url', url: 'ext::sh -c id' }, 'source.unsupported'],
    ['a file', { source: 'url', url: 'file:///etc' }, 'source.unsupported'],
    ['a credential', { source: 'url', url: 'https://u:s3cret@git.test/a.git' }, 'source.unsupported'],
    ['a token in the query', { source: 'url', url: 'https://git.test/a.git?token=s3cret' }, 'source.unsupported'],
    ['a short sha', { source: 'url', url: 'https://git.test/a.git', sha: 'abc' }, 'source.manifest'],
    [
      'a folder above the repository',
      { source: 'git-subdir', url: 'https://git.test/a.git', path: '../b' },
      'source.path',
    ],
    ['no folder', { source: 'git-subdir', url: 'https://git.test/a.git' }, 'source.manifest'],
    ['a missing folder', './nowhere', 'source.missing'],
  ])('reports a plugin whose source is %s, and takes the others', async (_, source, code) => {
    const files = sourceOf({
      ...skills('p/skills/one'),
      [MARKET]: {
        plugins: [
          { name: 'bad', source },
          { name: 'p', source: './p' },
        ],
      },
    });
    expect(await come(files)).toEqual({ skills: ['p/skills/one of p'], codes: [`${code} ${MARKET}`] });
    expect(JSON.stringify(await findContents(files))).not.toContain('s3cret');
  });

  it.each([
    ['leaves the source', '../../x', 'source.path'],
    ['is not there', './x', 'source.missing'],
    ['holds no SKILL.md', './empty', 'source.missing'],
  ])('reports a path of a plugin.json that %s', async (_, path, code) => {
    const files = sourceOf({
      ...skills('p/skills/one'),
      'p/empty/x': 'x',
      'p/.claude-plugin/plugin.json': { name: 'p', skills: [path] },
    });
    expect(await come(files)).toEqual({
      skills: ['p/skills/one of p'],
      codes: [`${code} p/.claude-plugin/plugin.json`],
    });
  });

  it.each([
    ['no JSON', '{', 'JSON'],
    ['a key that could reach a prototype', '{"__proto__":{"plugins":[]},"plugins":[]}', 'prototype'],
    ['such a key below constructor', '{"plugins":[{"constructor":{"prototype":{}}}]}', 'prototype'],
    ['too deep', '['.repeat(100) + ']'.repeat(100), 'nested'],
    ['no list of plugins', '{"plugins":{}}', 'no list'],
    ['no object', '7', 'no list'],
    ['plugins without names', '{"plugins":[{},null,[],{"name":7}]}', 'no name'],
    ['skills of a wrong type', '{"plugins":[{"name":"a","source":"./","skills":{"a":1}}]}', 'neither'],
  ])('reports a marketplace of %s, and takes the skills of the source', async (_, text, words) => {
    const { skills: found, diagnostics } = await findContents(sourceOf({ ...skills('a'), [MARKET]: text }));
    expect(found.map(({ folder }) => folder)).toEqual(['a']);
    expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(['source.manifest']));
    expect(diagnostics[0]?.message).toContain(words);
    expect(({} as Record<string, unknown>)['plugins']).toBeUndefined();
  });

  it('reads nothing of a marketplace of 200 MB', async () => {
    const files = sourceOf({ ...skills('a'), [MARKET]: '{}' });
    const read: string[] = [];
    const { diagnostics } = await findContents({
      entries: files.entries.map((entry) => (entry.path === MARKET ? { ...entry, bytes: 200_000_000 } : entry)),
      read: async (path, limit) => {
        read.push(path);
        return await files.read(path, limit);
      },
    });
    expect(diagnostics.map(({ code }) => code)).toEqual(['source.manifest']);
    expect(read).toEqual([]);
  });

  it('reads a marketplace that begins with a byte order mark', async () => {
    const text = `\ufeff${JSON.stringify({ plugins: [{ name: 'p', source: './p' }] })}`;
    expect((await come(sourceOf({ ...skills('p/skills/a'), [MARKET]: text }))).skills).toEqual(['p/skills/a of p']);
  });

  it('handles fifty thousand names and five thousand plugins', async () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `plugins/p${index}`);
    const files = sourceOf({
      ...Object.fromEntries(
        names.flatMap((name) => Array.from({ length: 9 }, (_, file) => [`${name}/skills/s/${file}`, 'x'])),
      ),
      ...skills(...names.slice(0, 1_000).map((name) => `${name}/skills/s`)),
      [MARKET]: { plugins: names.map((name) => ({ name, source: `./${name}` })) },
    });
    const { skills: found } = await findContents(files);
    expect(found).toHaveLength(1_000);
    expect(found.every(({ plugin }) => plugin !== undefined)).toBe(true);
  });
});
