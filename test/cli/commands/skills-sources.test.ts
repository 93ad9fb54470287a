import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeTree } from '../../conformance/write-tree.ts';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';

let scene: string;
let home: string;
let project: string;
beforeEach(() => {
  scene = realpathSync(mkdtempSync(join(tmpdir(), 'skills-sources-')));
  [home, project] = [join(scene, 'home'), join(scene, 'project')];
  mkdirSync(home);
  mkdirSync(project);
});
afterEach(() => rmSync(scene, { recursive: true, force: true }));

const skill = (name: string, body = 'Text.\n'): string =>
  `---\nname: ${name}\ndescription: Is about ${name}.\n---\n${body}`;

/** A command line in the project, with the home. */
const run = (...argv: string[]): Promise<MainRun> => runMain(argv, { cwd: project, env: { HOME: home } });

const listed = async (...argv: string[]): Promise<string[]> => {
  const { stdout } = await run('skills', 'list', '--json', ...argv);
  return (JSON.parse(stdout) as { ids: string[] }).ids.filter((id) => id.startsWith('custom.'));
};

const trustPath = (): string => join(home, '.config', 'skillcell', 'trust.json');

describe('--sources', () => {
  it('reads the home and the project only on request, and the later folder wins', async () => {
    writeTree(home, {
      '.claude/skills/a/SKILL.md': skill('a', 'Claude.\n'),
      '.agents/skills/a/SKILL.md': skill('a', 'Agents.\n'),
      '.agent/skills/b/SKILL.md': skill('b'),
    });
    writeTree(project, { '.claude/skills/b/SKILL.md': skill('b', 'Of the project.\n') });
    expect(await listed()).toEqual([]);
    expect(await listed('--sources', 'user')).toEqual(['custom.a', 'custom.b']);
    const shown = await run('skills', 'show', 'custom.a', '--sources', 'builtin,user');
    expect(shown.stdout).toContain('Agents.');
    expect((await run('skills', 'show', 'custom.b', '--sources', 'user,project')).stdout).not.toContain(
      'Of the project.',
    );
    expect((await run('skills', 'trust')).code).toBe(0);
    expect((await run('skills', 'show', 'custom.b', '--sources', 'user,project')).stdout).toContain('Of the project.');
  });

  it('reads and lists the folders of a home once if it is also the project, by any name', async () => {
    writeTree(scene, { 'elsewhere/a/SKILL.md': skill('a') });
    mkdirSync(join(home, '.agents'));
    symlinkSync(join(scene, 'elsewhere'), join(home, '.agents/skills'));
    symlinkSync(home, join(scene, 'other-name'));
    const inHome = (...argv: string[]): Promise<MainRun> =>
      runMain(['skills', ...argv], { cwd: home, env: { HOME: join(scene, 'other-name') } });
    const { sources } = JSON.parse((await inHome('sources', '--json')).stdout) as { sources: { source: string }[] };
    expect(sources.map(({ source }) => source)).toEqual(['builtin', 'user', 'user', 'user']);
    const { stderr, stdout } = await inHome('list', '--sources', 'user,project');
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('custom.a') as string]);
  });

  it('names a folder of the project that is a link to one of the home, but does not read it as one of the project', async () => {
    writeTree(home, { '.agents/skills/a/SKILL.md': skill('a') });
    mkdirSync(join(project, '.agents'));
    symlinkSync(join(home, '.agents/skills'), join(project, '.agents/skills'));
    expect((await run('skills', 'sources')).stdout).toContain('it is a link to outside the project');
    expect((await run('skills', 'list', '--sources', 'user,project')).stderr).toContain('trust.outside');
  });

  it('completes a change of skills that was killed between the old folder and the new one', async () => {
    writeTree(project, { 'source/a/SKILL.md': skill('a') });
    expect((await run('skills', 'add', './source', '--user')).code).toBe(0);
    const agents = join(home, '.agents');
    const staging = join(agents, '.skillcell.lock.json.staging');
    const lock = readFileSync(join(agents, 'skillcell.lock.json'), 'utf8');
    mkdirSync(join(staging, 'node_modules'), { recursive: true, mode: 0o700 });
    writeFileSync(join(staging, 'journal.json'), JSON.stringify({ lock, moves: [{ place: 'skills/a', isNew: true }] }));
    renameSync(join(agents, 'skills', 'a'), join(staging, 'node_modules', 'old-0'));
    writeTree(join(staging, 'node_modules', 'new-0'), { 'SKILL.md': skill('a', 'New.\n') });
    expect((await run('skills', 'show', 'custom.a', '--sources', 'user')).stdout).toContain('New.');
    expect(existsSync(staging)).toBe(false);
  });

  it('refuses unknown sources, and a root of built-in skills that are not among the sources', async () => {
    for (const argv of [
      ['--sources', 'home'],
      ['--sources', ''],
      ['--sources', 'user', '--root', '.'],
    ]) {
      const { code, stderr } = await run('skills', 'list', ...argv);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--sources')]);
    }
  });

  it('is taken by every command that loads skills', async () => {
    writeTree(home, {
      '.agents/skills/a/SKILL.md': skill('a', 'Of the user.\n'),
      '.agents/skills/a/scripts/one.mjs': 'console.log(1);\n',
    });
    const from = ['--sources', 'user'];
    expect((await run('skills', 'render', 'custom.a', ...from)).stdout).toContain('Of the user.');
    expect((await run('skills', 'match', 'a', ...from)).code).toBe(0);
    expect((await run('skills', 'descriptor', '--portable', ...from)).stdout).toContain('custom.a');
    for (const command of [
      ['exec'],
      ['codegen'],
      ['repl'],
      ['mcp'],
      ['skills', 'run'],
      ['skills', 'eval'],
      ['skills', 'list'],
    ]) {
      expect((await run(...command, '--help')).stdout).toContain('--sources LIST');
    }
  });

  it('takes a home from HOME only if it is an absolute path', async () => {
    writeTree(home, { '.agents/skills/a/SKILL.md': skill('a') });
    writeTree(project, { 'home/.agents/skills/z/SKILL.md': skill('z') });
    const { stdout } = await runMain(['skills', 'sources', '--json'], { cwd: project, env: { HOME: 'home' } });
    expect(stdout).not.toContain(join(project, 'home'));
  });

  it('reads linked folders of the user, but not those of a project', async () => {
    writeTree(scene, { 'elsewhere/a/SKILL.md': skill('a'), 'elsewhere/b/SKILL.md': skill('b') });
    mkdirSync(join(home, '.agents'));
    symlinkSync(join(scene, 'elsewhere'), join(home, '.agents', 'skills'));
    expect(await listed('--sources', 'user')).toEqual(['custom.a', 'custom.b']);
    mkdirSync(join(project, '.agents'));
    symlinkSync(join(scene, 'elsewhere'), join(project, '.agents', 'skills'));
    expect((await run('skills', 'trust', '--follow')).code).toBe(0);
    expect(await listed('--sources', 'project')).toEqual([]);
    expect((await run('skills', 'list', '--sources', 'project')).stderr).toContain('the folder is a link to');
  });
});

describe('skills trust', () => {
  it('ends the trust with a changed byte, an added file or a new skill, but not with files outside of skills', async () => {
    const file = join(project, '.agents', 'skills', 'a', 'SKILL.md');
    for (const change of [
      () => writeFileSync(file, skill('a', 'TEXT.\n')),
      () => writeTree(project, { '.agents/skills/a/more.md': 'x' }),
      () => writeTree(project, { '.agent/skills/b/SKILL.md': skill('b') }),
      () => chmodSync(file, 0o755),
      () => rmSync(join(project, '.agents/skills/a'), { recursive: true }),
    ]) {
      rmSync(project, { recursive: true });
      writeTree(project, { '.agents/skills/a/SKILL.md': skill('a'), '.agents/skills/c/SKILL.md': skill('c') });
      expect((await run('skills', 'trust')).stdout).toContain('2 skills');
      writeTree(project, { 'README.md': 'x', '.agents/note.txt': 'x' });
      expect(await listed('--sources', 'project')).toEqual(['custom.a', 'custom.c']);
      change();
      expect(await listed('--sources', 'project')).toEqual([]);
      const { stderr, code } = await run('skills', 'list', '--sources', 'project');
      expect([code, stderr]).toEqual([1, expect.stringContaining('they have changed since the project was trusted')]);
    }
  });

  it('follows changes on request', async () => {
    writeTree(project, { '.agents/skills/a/SKILL.md': skill('a') });
    await run('skills', 'trust', '--follow');
    writeTree(project, { '.agents/skills/b/SKILL.md': skill('b') });
    expect(await listed('--sources', 'project')).toEqual(['custom.a', 'custom.b']);
  });

  it('is kept for its owner alone, listed, and revoked', async () => {
    writeTree(project, { '.agents/skills/a/SKILL.md': skill('a') });
    await run('skills', 'trust');
    expect(lstatSync(trustPath()).mode & 0o777).toBe(0o600);
    expect((await run('skills', 'trust', '--list')).stdout).toMatch(new RegExp(`^${project} sha256:[0-9a-f]{64}\n$`));
    expect((await run('skills', 'untrust')).code).toBe(0);
    expect((await run('skills', 'untrust')).code).toBe(1);
    expect((await run('skills', 'trust', '--list')).stdout).toBe('');
    expect(await listed('--sources', 'project')).toEqual([]);
  });

  it('holds for the canonical path', async () => {
    writeTree(project, { '.agents/skills/a/SKILL.md': skill('a') });
    symlinkSync(project, join(scene, 'alias'));
    await runMain(['skills', 'trust', join(scene, 'alias')], { cwd: scene, env: { HOME: home } });
    expect(await listed('--sources', 'project')).toEqual(['custom.a']);
  });

  it.each([
    ['is open to others', () => chmodSync(trustPath(), 0o644), 'others may read or write it'],
    ['is no JSON', () => writeFileSync(trustPath(), '{'), 'it does not say which projects are trusted'],
    ['is of another version', () => writeFileSync(trustPath(), '{"version":2,"projects":{}}'), 'it does not say which'],
    ['is too large', () => appendFileSync(trustPath(), ' '.repeat(5 * 1024 * 1024)), 'it is over 4 MiB'],
    [
      'is a link',
      () => {
        writeFileSync(join(scene, 'copy'), readFileSync(trustPath()), { mode: 0o600 });
        rmSync(trustPath());
        symlinkSync(join(scene, 'copy'), trustPath());
      },
      'it is a link',
    ],
    [
      'is a folder',
      () => {
        rmSync(trustPath());
        mkdirSync(trustPath(), { mode: 0o700 });
      },
      'it is no regular file',
    ],
  ])('trusts no project if the file %s, and says so', async (_, damage, reason) => {
    writeTree(project, { '.agents/skills/a/SKILL.md': skill('a') });
    await run('skills', 'trust');
    damage();
    const { stderr, code } = await run('skills', 'list', '--sources', 'project');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`No project is trusted: ${reason}`)]);
    expect((await run('skills', 'sources')).stdout).toContain('no project is trusted');
    expect((await run('skills', 'trust', '--list')).stderr).toContain(reason);
    // A file that another user may have put there is not overwritten.
    expect((await run('skills', 'trust')).code).toBe(2);
  });

  it('trusts no project if the file belongs to another user', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can create such a file');
    writeTree(project, { '.agents/skills/a/SKILL.md': skill('a') });
    await run('skills', 'trust');
    chownSync(trustPath(), 12_345, 12_345);
    expect((await run('skills', 'list', '--sources', 'project')).stderr).toContain('it belongs to another user');
    expect(await listed('--sources', 'project')).toEqual([]);
  });

  it('keeps all entries of concurrent writers', async () => {
    const names = Array.from({ length: 8 }, (_, number) => join(scene, `project-${number}`));
    for (const name of names) writeTree(name, { '.agents/skills/a/SKILL.md': skill('a') });
    await Promise.all(names.map((name) => runMain(['skills', 'trust'], { cwd: name, env: { HOME: home } })));
    const { stdout } = await run('skills', 'trust', '--list', '--json');
    expect((JSON.parse(stdout) as { project: string }[]).map((row) => row.project)).toEqual(names);
  });
});

describe('skills sources', () => {
  it('says which folders are read, and why others are not', async () => {
    writeTree(home, { '.agents/skills/a/SKILL.md': skill('a') });
    writeTree(project, { '.agents/skills/b/SKILL.md': skill('b') });
    const before = (await run('skills', 'sources')).stdout.split('\n');
    expect(before.slice(1, 7)).toEqual([
      `user    not read ${home}/.claude/skills: there is no such folder`,
      `user    read     ${home}/.agents/skills`,
      `user    not read ${home}/.agent/skills: there is no such folder`,
      `project not read ${project}/.claude/skills: there is no such folder`,
      `project not read ${project}/.agents/skills: the project is not trusted`,
      `project not read ${project}/.agent/skills: there is no such folder`,
    ]);
    await run('skills', 'trust');
    expect((await run('skills', 'sources')).stdout).toContain(`project read     ${project}/.agents/skills\n`);
    writeTree(project, { '.agents/skills/c/SKILL.md': skill('c') });
    const { sources } = JSON.parse((await run('skills', 'sources', '--json')).stdout) as {
      sources: { path: string; reason: string }[];
    };
    expect(sources.find(({ path }) => path.startsWith(`${project}/.agents`))?.reason).toBe(
      'it has changed since the project was trusted',
    );
  });
});

describe('skills sources and loading', () => {
  const killedChange = (): void => {
    const staging = join(project, '.skillcell.lock.json.staging');
    const lock = readFileSync(join(project, 'skillcell.lock.json'), 'utf8');
    const moves = [{ place: '.agents/skills/a', isNew: true }];
    mkdirSync(join(staging, 'node_modules'), { recursive: true, mode: 0o700 });
    writeFileSync(join(staging, 'journal.json'), JSON.stringify({ lock, moves }));
    renameSync(join(project, '.agents/skills/a'), join(staging, 'node_modules', 'old-0'));
    writeTree(join(staging, 'node_modules', 'new-0'), { 'SKILL.md': skill('a') });
  };
  const change = (): void => writeTree(project, { '.agents/skills/a/more.md': 'x' });
  const moveOut = (): void => {
    renameSync(join(project, '.agents/skills'), join(scene, 'moved'));
    symlinkSync(join(scene, 'moved'), join(project, '.agents/skills'));
  };

  it.each<[string, string[][], () => void, string | null, string | undefined]>([
    ['is not trusted', [], () => undefined, 'the project is not trusted', 'root.untrusted'],
    ['is trusted', [['trust']], () => undefined, null, undefined],
    ['has changed', [['trust']], change, 'it has changed since the project was trusted', 'trust.changed'],
    ['is followed', [['trust', '--follow']], () => undefined, null, undefined],
    ['is followed and has changed', [['trust', '--follow']], change, null, undefined],
    ['is trusted no longer', [['trust'], ['untrust']], () => undefined, 'the project is not trusted', 'root.untrusted'],
    ['has its folder outside', [['trust']], moveOut, 'it is a link to outside the project', 'trust.outside'],
    [
      'is trusted by an open file',
      [['trust']],
      () => chmodSync(trustPath(), 0o644),
      'no project is trusted',
      'trust.ignored',
    ],
    ['has a change that was killed', [['trust']], killedChange, null, undefined],
  ])('read a project alike if it %s', async (_, commands, prepare, reason, code) => {
    writeTree(project, { 'source/a/SKILL.md': skill('a') });
    expect((await run('skills', 'add', './source')).code).toBe(0);
    for (const argv of commands) await run('skills', ...argv);
    prepare();
    const { sources } = JSON.parse((await run('skills', 'sources', '--json')).stdout) as {
      sources: { path: string; read: boolean; reason: string | null }[];
    };
    expect(sources.find(({ path }) => path === join(project, '.agents/skills'))).toMatchObject({
      read: reason === null,
      reason,
    });
    const { stdout } = await run('skills', 'list', '--sources', 'project', '--json');
    const { ids, diagnostics } = JSON.parse(stdout) as { ids: string[]; diagnostics: { code: string }[] };
    expect(ids).toEqual(reason === null ? ['custom.a'] : []);
    expect(diagnostics[0]?.code).toBe(code);
  });

  it('judge and trust a project after they have completed a killed change', async () => {
    writeTree(project, { 'source/a/SKILL.md': skill('a') });
    await run('skills', 'add', './source');
    killedChange();
    expect((await run('skills', 'trust')).stdout).toContain('1 skill.');
    expect(await listed('--sources', 'project')).toEqual(['custom.a']);
  });
});

describe('a HOME that is no absolute path', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['', '.', 'relative'])('does not make the project the home: %j', async (HOME) => {
    vi.stubEnv('HOME', HOME);
    const [config, cache] = [join(scene, 'config'), join(scene, 'cache')];
    const env = { HOME, XDG_CONFIG_HOME: config, XDG_CACHE_HOME: cache };
    const evil = { '.agents/skills/evil/SKILL.md': skill('evil') };
    writeTree(project, evil);
    writeTree(join(project, 'relative'), evil);
    const list = await runMain(['skills', 'list', '--sources', 'user', '--json'], { cwd: project, env });
    expect((JSON.parse(list.stdout) as { ids: string[] }).ids).not.toContain('custom.evil');
    const { stdout } = await runMain(['skills', 'sources', '--json'], { cwd: project, env });
    const { sources } = JSON.parse(stdout) as { sources: { source: string; path: string; read: boolean }[] };
    const ofUser = sources.filter(({ source }) => source === 'user').map(({ path }) => path);
    expect(ofUser).toHaveLength(3);
    expect(ofUser.filter((path) => !path.startsWith('/') || path.startsWith(project))).toEqual([]);
    expect(sources.filter(({ source, read }) => source === 'project' && read)).toEqual([]);
  });
});
