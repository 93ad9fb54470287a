import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillExplanation } from '../../../src/authoring/explain-skill.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { runMain } from '../../fixtures/run-main.ts';
import { skillText } from '../../fixtures/skill-library.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-authoring-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));
const skills = (...argv: string[]): ReturnType<typeof runMain> => runMain(['skills', ...argv], { cwd });

describe('skillcell skills new', () => {
  it.each(['pdf-press', '7', 'true', 'größe', '表格'])(
    'creates %s, which is valid by the specification',
    async (name) => {
      expect(await skills('new', name, '--into', 'a/b')).toEqual({
        code: 0,
        stdout: `a/b/${name}/SKILL.md\n`,
        stderr: '',
      });
      expect(await skills('validate', 'a', '--strict')).toMatchObject({ code: 0 });
      expect((await skills('validate', 'a')).stdout).toBe(`valid a/b/${name} (custom.${name})\n`);
    },
  );

  it.each(['', 'PDF Press', '../up', 'a/b', 'a--b', '-a', 'x'.repeat(65), '.hidden', 'a\nb'])(
    'refuses %j',
    async (name) => {
      const run = await skills('new', `--into=.`, '--', name);
      expect(run).toMatchObject({ code: 2, stdout: '' });
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  it('keeps existing files', async () => {
    await skills('new', 'one');
    writeFileSync(join(cwd, 'one/SKILL.md'), 'mine');
    expect(await skills('new', 'one')).toMatchObject({ code: 2, stderr: expect.stringContaining('already') as string });
    expect(readdirSync(cwd)).toEqual(['one']);
  });
});

describe('skillcell skills graph', () => {
  beforeEach(() => {
    const skill = (name: string, imports: string[]): string =>
      skillText({ name, description: 'x', import: imports }, 'x\n');
    writeTree(cwd, {
      'root/public/a/SKILL.md': skill('a', ['public.b', 'internal.c']),
      'root/public/b/SKILL.md': skill('b', ['public.a', 'public."\u001b[31m', 'public.d']),
      'root/public/d/SKILL.md': skill('d', []),
      'root/internal/c/SKILL.md': skill('c', []),
      'policy.json': JSON.stringify({ agents_config: { desk: { disabled: ['public.d'] } } }),
    });
  });

  it('shows imports, cycles, and unknown or denied imports', async () => {
    const run = await skills('graph', '--root', 'root', '--descriptor', 'policy.json', '--consumer', 'desk');
    expect(run).toEqual({
      code: 0,
      stderr: '',
      stdout: `internal.c
public.a
  → public.b
  → internal.c
public.b
  → public.a (cycle: dropped)
  → public." [31m (unknown: dropped)
  → public.d (denied: dropped)
cycle: public.a → public.b → public.a
`,
    });
  });

  it('is written for Graphviz and as JSON, for chosen skills', async () => {
    const dot = await skills('graph', 'b', '--root', 'root', '--format', 'dot');
    expect(dot.stdout).toContain('  "public.b" -> "public.\\" [31m" [style=dotted, label="unknown"];\n');
    expect(dot.stdout).toMatch(/^digraph skills \{\n {2}"internal\.c";\n[^]*\}\n$/);
    const json = JSON.parse(
      (await skills('graph', 'd', 'public.c', '--root', 'root', '--json').then(({ stdout }) => stdout)) || '{}',
    ) as unknown;
    expect(json).toMatchObject({ error: { code: 'skills.reference-unknown' } });
    expect(JSON.parse((await skills('graph', 'd', '--root', 'root', '--json')).stdout)).toEqual({
      skills: ['public.d'],
      imports: [],
      cycles: [],
    });
  });

  it('refuses skills that the consumer may not have', async () => {
    const run = await skills('graph', 'd', '--root', 'root', '--descriptor', 'policy.json', '--consumer', 'desk');
    expect(run).toMatchObject({ code: 2, stdout: '' });
  });

  it('follows chains of any length', async () => {
    const chain = Array.from({ length: 3_000 }, (_, at) => [
      `c-${at}/SKILL.md`,
      `---\ndescription: x\nimport: [public.c-${at + 1}]\n---\nx\n`,
    ]);
    writeTree(join(cwd, 'chain'), Object.fromEntries(chain) as Record<string, string>);
    const { stdout } = await skills('graph', 'c-0', '--root', 'chain', '--json');
    expect((JSON.parse(stdout) as { imports: unknown[] }).imports).toHaveLength(3_000);
  });
});

describe('skillcell skills explain', () => {
  describe('of a skill that exists more than once', () => {
    const version = (number: string | undefined, body = 'x\n'): string =>
      skillText({ name: 'a', description: 'x', ...(number === undefined ? {} : { version: number }) }, body);
    const explain = async (
      ...argv: string[]
    ): Promise<{ run: Awaited<ReturnType<typeof runMain>>; versions: unknown }> => {
      const options = { cwd: join(cwd, 'project'), env: { HOME: join(cwd, 'home') } };
      const [run, json] = [[], ['--json']].map((more) => runMain(['skills', 'explain', ...argv, ...more], options));
      const { skill } = JSON.parse((await json)?.stdout ?? '') as SkillExplanation;
      return { run: (await run) as Awaited<ReturnType<typeof runMain>>, versions: skill?.versions };
    };
    const from = (source: string): object => ({
      type: 'directory',
      source: join(realpathSync(cwd), source),
      folder: 'a',
    });

    it('names the other copies in --sources, of any version, with their places and why they are not taken', async () => {
      writeTree(cwd, {
        'home/.claude/skills/a/SKILL.md': version('1.4.0'),
        'home/.agents/skills/a/SKILL.md': version('2.0.0', 'Of the user.\n'),
        'project/.agents/skills/a/SKILL.md': version('2.0.0', 'Of the project.\n'),
        'project/.agents/skills/inner/a/SKILL.md': version('3.0.0'),
      });
      await runMain(['skills', 'trust'], { cwd: join(cwd, 'project'), env: { HOME: join(cwd, 'home') } });
      const front = await explain('custom.a', '--sources', 'user,project');
      const inner = {
        version: '3.0.0',
        origin: { root: 'project', folder: 'inner/a', from: { ...from('project/.agents/skills'), folder: 'inner/a' } },
        reason: 'a of the same root has the id already',
      };
      const [user, claude] = ['home/.agents/skills', 'home/.claude/skills'].map((source) => ({
        root: 'user',
        folder: 'a',
        from: from(source),
      }));
      expect(front.versions).toEqual([
        inner,
        { version: '2.0.0', origin: user, reason: 'the project kind takes precedence over the user kind' },
        { version: '1.4.0', origin: claude, reason: 'the project kind takes precedence over the user kind' },
      ]);
      expect(front.run.stdout).toContain(
        `beside it: v1.4.0 in the user root, a, from directory ${from('home/.claude/skills')['source' as never] as string} (the project kind takes precedence over the user kind)\n`,
      );
      const old = await explain('custom.a@^1', '--sources', 'user,project');
      const range = 'it takes precedence, but a version range excludes it';
      expect(old.run.stdout).toContain('v1.4.0\n');
      expect(old.versions).toMatchObject([
        { reason: range },
        { ...inner, reason: range },
        { origin: user, reason: range },
      ]);
    });

    it('names the built-in skill that a skill of the bundle replaces, and with --frozen the one that is not approved', async () => {
      writeTree(cwd, {
        'root/public/a/SKILL.md': version(undefined),
        'project/skills/public/a/SKILL.md': version('1.0.0'),
        'project/policy.json': JSON.stringify({ custom_skills_root: 'skills', overrides: ['public.a'] }),
      });
      const argv = ['a', '--root', '../root', '--descriptor', 'policy.json'];
      const builtin = {
        version: null,
        origin: { root: 'builtin', folder: 'public/a', from: { ...from('root'), folder: 'public/a' } },
      };
      expect((await explain(...argv)).versions).toEqual([
        { ...builtin, reason: 'the custom kind takes precedence over the builtin kind' },
      ]);
      await runMain(['skills', 'add', './skills', '--into', 'taken'], { cwd: join(cwd, 'project') });
      await runMain(['skills', 'approve', 'a', '--as', 'Ada'], { cwd: join(cwd, 'project') });
      expect((await explain(...argv, '--frozen')).versions).toEqual([
        { ...builtin, reason: 'public.a is not loaded: its bytes are not the bytes that are locked as custom.a' },
      ]);
    });
  });

  it('reports a loaded skill in full, and why a skill is denied', async () => {
    writeTree(cwd, {
      'root/a/SKILL.md': skillText({ name: 'a', description: 'x' }, 'Hush.\n'),
      'policy.json': JSON.stringify({ agents_config: { desk: { disabled: ['a'] } } }),
    });
    const argv = ['explain', 'a', '--root', 'root', '--descriptor', 'policy.json'];
    const yes = await skills(...argv, '--consumer', 'other');
    expect(yes).toMatchObject({ code: 0, stderr: '' });
    expect(yes.stdout).toMatch(
      /^public\.a: offered and loaded for other\n[^]*approval: it is not locked\ntokens: ~2, /,
    );
    const no = await skills(...argv, '--consumer', 'desk');
    expect(no).toEqual({
      code: 1,
      stderr: '',
      stdout: 'public.a: denied for desk\n  - agents_config["desk"].disabled "a": the pattern matches public.a\n',
    });
    expect(await skills('explain', 'none', '--root', 'root')).toMatchObject({ code: 2, stdout: '' });
  });

  it('prints the patterns that match the skill, and how many do not', async () => {
    const disabled = ['custom.*', 'public.b', 'old-*'];
    writeTree(cwd, {
      'root/a/SKILL.md': skillText({ name: 'a', description: 'x' }, 'Hush.\n'),
      'policy.json': JSON.stringify({ agents_config: { '*': { disabled }, desk: { enabled: ['public.*', 'b'] } } }),
    });
    const explain = async (...argv: string[]): Promise<string> =>
      (await skills('explain', 'a', '--root', 'root', '--descriptor', 'policy.json', ...argv)).stdout;
    const desk = await explain('--consumer', 'desk');
    expect(desk).toContain(
      '\n  + agents_config["desk"].enabled "public.*": the pattern matches public.a\n    4 patterns of the policy match only other skills\nname: a',
    );
    expect(desk).not.toContain('old-');
    expect(await explain()).toContain(
      '\n  no rule applies to it\n    3 patterns of the policy match only other skills\n',
    );
  });

  it('says who has approved the bytes that are loaded, by the lock file', async () => {
    writeTree(cwd, { 'source/a/SKILL.md': skillText({ name: 'a', description: 'x' }, 'Hush.\n') });
    const added = await skills('add', './source', '--into', 'skills');
    expect(added.stderr).toBe('');
    const explain = async (): Promise<string> => {
      writeTree(cwd, { 'policy.json': JSON.stringify({ custom_skills_root: 'skills' }) });
      return (await skills('explain', 'custom.a', '--descriptor', 'policy.json')).stdout;
    };
    expect(await explain()).toContain('approval: these bytes are not approved\n');
    await skills('approve', 'custom.a', '--as', 'Ada');
    expect(await explain()).toMatch(/origin: custom root, a, from directory [^]*approval: by Ada\n/);
    writeTree(cwd, { 'skills/a/more.md': 'changed' });
    expect(await explain()).toContain('approval: these bytes are not approved\n');
  });
});

describe('skillcell skills export and import', () => {
  beforeEach(() => {
    writeTree(cwd, {
      'root/a/SKILL.md': '---\nname: A\ndescription: Use: it\nversion: 1.0\nimport: b\n---\nHush.\n',
      'root/a/run.sh': { base64: 'IyEK' },
      'root/b/SKILL.md': skillText({ name: 'b', description: 'x' }, 'x\n'),
      'policy.json': JSON.stringify({ agents_config: { desk: { disabled: ['a'] } } }),
    });
  });

  it.each([
    ['agentskills', '.agents/skills'],
    ['claude', '.claude/skills'],
  ])('write for %s below %s, valid by the specification, and read it back', async (to, folder) => {
    expect(await skills('export', 'a', '--to', to, '--root', 'root')).toEqual({
      code: 0,
      stdout: `${folder}/a\n`,
      stderr: 'Their imports are not exported with them: public.b.\n',
    });
    expect(await skills('validate', folder, '--strict')).toMatchObject({ code: 0 });
    expect(await skills('import', folder, '--into', 'back')).toEqual({ code: 0, stdout: 'back/a\n', stderr: '' });
    const shown = async (root: string): Promise<Record<string, unknown>> => {
      const { fields, extra, body, files } = JSON.parse(
        (await skills('show', 'a', '--json', '--root', root)).stdout,
      ) as Record<string, unknown>;
      return { fields, extra, body, paths: (files as { path: string }[]).map(({ path }) => path) };
    };
    expect(await shown('back')).toEqual(await shown('root'));
  });

  it('write nothing if the versions of imports are incompatible', async () => {
    writeTree(cwd, {
      'root/c/SKILL.md': skillText({ name: 'c', description: 'x', import: 'b@^1.0' }, 'x\n'),
    });
    for (const format of [[], ['--json']])
      expect(await skills('export', 'c', '--to', 'claude', '-o', 'out', '--root', 'root', ...format)).toMatchObject({
        code: 2,
      });
    expect(readdirSync(cwd)).not.toContain('out');
  });

  it('list the imports in JSON as well', async () => {
    const run = await skills('export', 'a', '--to', 'claude', '-o', 'out', '--root', 'root', '--json');
    expect(JSON.parse(run.stdout)).toEqual({ written: ['out/a'], imports: ['public.b'] });
  });

  it('write an AGENTS.md beside skills', async () => {
    const run = await skills('export', 'b', 'a', '--to', 'agents-md', '-o', 'out', '--root', 'root');
    expect(run).toMatchObject({ code: 0, stdout: 'out/AGENTS.md\nout/skills/a\nout/skills/b\n' });
    expect(readFileSync(join(cwd, 'out/AGENTS.md'), 'utf8')).toContain('- **a** (`skills/a/SKILL.md`): Use: it\n');
  });

  it('overwrite nothing, and export no denied skill', async () => {
    const argv = ['export', 'a', 'b', '--to', 'claude', '-o', 'out', '--root', 'root'];
    expect(await skills(...argv, '--descriptor', 'policy.json', '--consumer', 'desk')).toMatchObject({
      code: 2,
      stdout: '',
    });
    writeTree(cwd, { 'out/b/mine': 'mine' });
    expect(await skills(...argv)).toMatchObject({ code: 2, stdout: '' });
    expect(readdirSync(join(cwd, 'out'))).toEqual(['b']);
    expect(await skills('export', 'a', '--root', 'root')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--to') as string,
    });
    expect(await skills('import', 'out')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('skillcell skills schema', () => {
  it('names the schemas, and prints one', async () => {
    const names = ['descriptor', 'lock', 'skill', 'skill-strict', 'sources', 'tools'];
    const { code, stdout } = await skills('schema', '--json');
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { schemas: { name: string }[] }).schemas.map(({ name }) => name)).toEqual(names);
    expect((await skills('schema')).stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([...names, '']);
    for (const name of names) {
      const committed = readFileSync(new URL(`../../../docs/schemas/${name}.json`, import.meta.url), 'utf8');
      expect(await skills('schema', name)).toEqual({ code: 0, stdout: committed, stderr: '' });
      expect((await skills('schema', name, '--json')).stdout).toBe(committed);
    }
  });

  it.each(['nope', '../errors', '', 'skill.json'])('refuses %j', async (name) => {
    expect(await skills('schema', name)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('it must be one of descriptor, lock, skill,') as string,
    });
  });
});
