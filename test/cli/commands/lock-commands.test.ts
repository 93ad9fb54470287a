import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILTIN_FOLDER } from '../../../src/cli/options/skills/builtin-folder.ts';
import { approveSkills } from '../../../src/library/install/approve-skills.ts';
import { installSkills } from '../../../src/library/install/install-skills.ts';
import { findUpdates, takeUpdates } from '../../../src/library/install/update-skills.ts';
import { verifySkills } from '../../../src/library/install/verify-skills.ts';
import { readLock } from '../../../src/library/lock/format/read-lock.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';

let scene: string;
let project: string;
let lockFile: string;
beforeEach(() => {
  scene = realpathSync(mkdtempSync(join(tmpdir(), 'lock-commands-')));
  project = join(scene, 'project');
  mkdirSync(project);
  lockFile = join(project, 'skillcell.lock.json');
});
afterEach(() => rmSync(scene, { recursive: true, force: true }));

/** A command line in the project, with a home and a cache of its own. */
const skills = (...argv: string[]): Promise<MainRun> =>
  runMain(['skills', ...argv], { cwd: project, env: { HOME: join(scene, 'home') } });

function writeSkill(folder: string, name: string, body: string, more = ''): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`);
}

const idsOf = ({ stdout }: MainRun): string[] => (JSON.parse(stdout) as { ids: string[] }).ids;

describe('the folder of a skill', () => {
  it.each<[string[], string, string]>([
    [[], 'skillcell.lock.json', '.agents/skills/alpha'],
    [['--into', '../other'], '../other/skillcell.lock.json', '../other/alpha'],
    [['--lock', 'below/own.json'], 'below/own.json', 'below/.agents/skills/alpha'],
    [['--user'], '../home/.agents/skillcell.lock.json', '../home/.agents/skills/alpha'],
  ])('is shown as seen from the working folder (%j)', async (flags, lock, place) => {
    mkdirSync(join(scene, 'other'));
    mkdirSync(join(scene, 'home'));
    writeSkill(join(scene, 'source/alpha'), 'alpha', 'First.');
    const shown = place.startsWith('../') ? resolve(project, place) : place;
    expect(await skills('add', '../source', ...flags)).toMatchObject({ stdout: `added custom.alpha in ${shown}\n` });
    expect(existsSync(join(project, place, 'SKILL.md'))).toBe(true);
    rmSync(join(project, place), { recursive: true });
    const given = flags[0] === '--into' ? ['--lock', lock] : flags;
    expect(await skills('install', ...given)).toMatchObject({
      stdout: expect.stringMatching(`^installed custom.alpha in ${shown}\n`),
    });
  });
});

describe('built-in skills', () => {
  it('load with --frozen once their bytes are approved, and are named until then', async () => {
    expect((await skills('list', '--frozen')).stderr).toContain('there is no lock file');
    expect((await skills('approve', 'public.chart', '--as', 'Ana')).stdout).toMatch(/^approved public.chart sha256:/);
    const { files, place, origin } = readLock(lockFile)?.get('public.chart') ?? {};
    expect([files?.some(({ path }) => path === 'SKILL.md'), place, origin]).toEqual([
      true,
      null,
      { type: 'builtin', source: 'skillcell', folder: 'public/chart' },
    ]);
    const listed = await skills('list', '--frozen', '--json');
    expect(idsOf(listed)).toEqual(['public.chart']);
    const said = await skills('list', '--frozen');
    for (const id of readdirSync(join(BUILTIN_FOLDER, 'public')).filter((name) => name !== 'chart'))
      expect(said.stderr).toContain(`public.${id} is not loaded: its bytes are not locked`);
    expect((await skills('verify')).stdout).toBe('public.chart: as locked, approved\n');
    expect((await skills('install', '--frozen')).stdout).toBe('unchanged public.chart in the package\n');
    expect((await skills('update')).stdout).toBe('public.chart: current\n');
    expect((await skills('approve', '--builtin', '--as', 'Ana')).code).toBe(0);
    expect((await skills('list', '--frozen')).stderr).not.toContain('not loaded');
    expect((await skills('remove', 'chart')).stdout).toBe('removed public.chart\n');
    expect(idsOf(await skills('list', '--frozen', '--json'))).not.toContain('public.chart');
  });

  it('of another version of the package are neither verified nor approved, until they are updated and approved', async () => {
    const builtinFolder = join(scene, 'package');
    const cache = openTreeCache(join(scene, 'cache'));
    cpSync(BUILTIN_FOLDER, builtinFolder, { recursive: true });
    await approveSkills({ lockFile, refs: ['chart'], as: 'Ana', builtinFolder, cache });
    const text = join(builtinFolder, 'public/chart/SKILL.md');
    writeFileSync(text, `${readFileSync(text, 'utf8')}Or guess.\n`);
    const deviations = (await verifySkills({ lockFile, builtinFolder }))?.map((row) => row.deviations);
    expect(deviations).toEqual([[{ id: 'public.chart', path: 'SKILL.md', state: 'changed' }]]);
    const refused = { code: 'lock.mismatch', diagnostics: [{ code: 'lock.changed' }] };
    await expect(approveSkills({ lockFile, refs: ['chart'], as: 'Ana', builtinFolder })).rejects.toMatchObject(refused);
    await expect(installSkills({ lockFile, cache, builtinFolder })).rejects.toMatchObject(refused);
    const updates = await findUpdates({ lockFile, cache, builtinFolder });
    expect(
      updates[0]?.difference?.files.map(({ path, state, lines }) => [path, state, lines?.includes('+Or guess.')]),
    ).toEqual([['SKILL.md', 'changed', true]]);
    expect(updates[0]?.difference?.tools).toEqual({ added: [], removed: [] });
    await takeUpdates(updates, { lockFile, cache, builtinFolder });
    expect(readLock(lockFile)?.get('public.chart')?.approval).toBeNull();
    rmSync(join(builtinFolder, 'public/chart'), { recursive: true });
    expect((await verifySkills({ lockFile, builtinFolder }))?.[0]?.deviations[0]?.state).toBe('missing');
    expect((await findUpdates({ lockFile, cache, builtinFolder }))[0]?.state).toBe('gone');
    cache.close();
  });

  it('are not approved by an unknown name, and nothing is written then', async () => {
    expect(await skills('approve', 'public.nothing', '--as', 'Ana')).toMatchObject({ code: 2 });
    expect(await skills('approve', '--as', 'Ana')).toMatchObject({ code: 2 });
    expect(readdirSync(project)).toEqual([]);
  });
});

describe('skillcell skills update', () => {
  it('shows the difference to the locked version, and replaces no edited skill', async () => {
    writeSkill(join(scene, 'source/units'), 'units', 'Give SI units.');
    await skills('add', '../source');
    await skills('approve', 'units', '--as', 'Ana');
    const installed = join(project, '.agents/skills/units/SKILL.md');
    writeFileSync(installed, `${readFileSync(installed, 'utf8')}Mine.\n`);
    writeSkill(join(scene, 'source/units'), 'units', 'Give any units.', 'allowed-tools: Bash\n');
    const dry = await skills('update', '--dry-run');
    for (const text of [
      '-Give SI units.',
      '+Give any units.',
      'tool + Bash',
      'not as locked here: changed custom.units SKILL.md',
    ])
      expect(dry.stdout).toContain(text);
    expect(dry.stdout).not.toContain('Mine.');
    expect(await skills('update')).toMatchObject({ code: 2 });
    expect(readFileSync(installed, 'utf8')).toContain('Mine.');
    expect(await skills('update', '--force')).toMatchObject({ code: 0 });
    expect(readLock(lockFile)?.get('custom.units')?.approval).toBeNull();
    const shown = await skills('show', 'units', '--frozen', '--root', '.agents/skills');
    expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining('its bytes are not approved')]);
  });

  it('changes nothing if the source is down, or no longer has the skill', async () => {
    writeSkill(join(scene, 'source/units'), 'units', 'Give SI units.');
    writeSkill(join(scene, 'source/other'), 'other', 'Other.');
    await skills('add', '../source');
    const before = readFileSync(lockFile, 'utf8');
    rmSync(join(scene, 'source/units'), { recursive: true });
    const gone = await skills('update');
    expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('custom.units: gone from its source')]);
    rmSync(join(scene, 'source'), { recursive: true });
    expect(await skills('update')).toMatchObject({ code: 3 });
    expect(readFileSync(lockFile, 'utf8')).toBe(before);
    expect(await skills('verify')).toMatchObject({ code: 0 });
  });
});

describe('a skill that --frozen leaves out', () => {
  const frozen = ['--frozen', '--descriptor', 'bundle.json'];
  const approve = async (...refs: string[]): Promise<unknown> => await skills('approve', ...refs, '--as', 'Ana');

  beforeEach(async () => {
    for (const [name, more] of [
      ['report', 'imports: [custom.units]\n'],
      ['units', 'imports: [custom.deep]\n'],
      ['deep', ''],
    ] as const)
      writeSkill(join(scene, 'source', name), name, 'Text.', more);
    writeFileSync(
      join(project, 'bundle.json'),
      JSON.stringify({ custom_skills_root: join(project, '.agents/skills') }),
    );
    await skills('add', '../source');
  });

  it('is reported where it is imported, however deep, with useful advice', async () => {
    await approve('report', 'units');
    const said = await skills('render', 'custom.report', ...frozen);
    expect([said.code, said.stderr]).toEqual([0, expect.stringContaining('import.unknown')]);
    expect(said.stderr).toContain('lock.not-approved');
    expect(said.stderr).toContain('custom.deep is not loaded: its bytes are not approved.');
    const { diagnostics } = JSON.parse((await skills('render', 'custom.report', ...frozen, '--json')).stdout) as {
      diagnostics: { code: string; skill?: string }[];
    };
    expect(diagnostics.map(({ code, skill }) => [code, skill])).toContainEqual(['lock.not-approved', 'custom.deep']);
    await approve('deep');
    expect((await skills('render', 'custom.report', ...frozen)).stderr).toBe('');
  });

  it('is in the result of a job whose skill imports it, and is noted once on stderr', async () => {
    await approve('report', 'units');
    writeFileSync(join(project, 'program.mjs'), 'console.log(1);\n');
    const argv = ['exec', 'program.mjs', '--skill', 'custom.report', ...frozen, ...BEST_FLAGS];
    const run = (...more: string[]): Promise<MainRun> =>
      runMain([...argv, ...more], { cwd: project, env: { HOME: join(scene, 'home') } });
    const { diagnostics } = JSON.parse((await run('--json')).stdout) as { diagnostics: { code: string }[] };
    expect(diagnostics).toContainEqual(expect.objectContaining({ code: 'lock.not-approved', skill: 'custom.deep' }));
    const { code, stderr } = await run();
    expect([code, stderr.match(/lock\.not-approved/g)]).toEqual([0, ['lock.not-approved']]);
  });

  it('is reported beside a graph, an export and an explanation', async () => {
    await approve('report', 'units');
    const said = 'custom.deep is not loaded: its bytes are not approved.';
    expect((await skills('graph', 'custom.report', ...frozen)).stderr).toContain(said);
    expect((await skills('export', 'custom.report', '--to', 'claude', ...frozen)).stderr).toContain(said);
    expect((await skills('explain', 'custom.report', ...frozen)).stdout).toContain(said);
  });

  it.each(['custom.units', 'sk:custom.units', 'skill:skills.custom.units'])(
    'is the error of a reference to it: %s',
    async (ref) => {
      await approve('deep');
      const { code, stderr } = await skills('render', ref, ...frozen);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('Cannot use custom.units: its bytes are not approved.') as string,
      ]);
      expect(stderr).not.toContain('custom.report is not loaded');
    },
  );

  it('is reported with its locked id if the folder gives another one', async () => {
    await approve('deep');
    const list = async (): Promise<string> => (await skills('list', '--frozen', '--root', '.agents/skills')).stderr;
    expect(await list()).toContain(
      'public.units is not loaded: its bytes are not approved, but locked as custom.units.',
    );
    writeSkill(join(project, '.agents/skills/units'), 'units', 'Other.');
    expect(await list()).toContain(
      'public.units is not loaded: its bytes are not the bytes that are locked as custom.units.',
    );
  });
});

describe('skills-lock.json', () => {
  /** By sha256sum over the path and the bytes of SKILL.md. */
  const COMPUTED = 'a34dfe44df4183e0956ae8392fa2aea4673bade4f78d85ff5f1bc06d2f4b77b3';

  const write = (computedHash: string): void =>
    writeFileSync(
      join(project, 'skills-lock.json'),
      JSON.stringify({ version: 1, skills: { Units: { source: '../source', sourceType: 'local', computedHash } } }),
    );

  it('is compared with the folders that its tool has installed', async () => {
    write(COMPUTED);
    expect(await skills('verify')).toMatchObject({ code: 1, stdout: expect.stringContaining('MISSING') as string });
    writeSkill(join(project, '.agents/skills/units'), 'units', 'Give SI units.');
    mkdirSync(join(project, '.agents/skills/units/node_modules'));
    expect(await skills('verify')).toMatchObject({
      code: 0,
      stdout: 'Units in .agents/skills/units: as locked by skills-lock.json\n',
    });
    writeFileSync(join(project, '.agents/skills/units/more.txt'), '');
    expect(await skills('verify')).toMatchObject({ code: 1, stdout: expect.stringContaining('CHANGED') as string });
  });

  it('is compared beside our lock file, except for the folders in ours', async () => {
    const theirs = '.agents/skills/theirs';
    writeFileSync(
      join(project, 'skills-lock.json'),
      JSON.stringify({
        version: 1,
        skills: {
          Units: { source: '../source', sourceType: 'local', computedHash: COMPUTED },
          theirs: { source: 'a/b', sourceType: 'github', computedHash: COMPUTED },
        },
      }),
    );
    writeSkill(join(scene, 'source/units'), 'units', 'Give SI units.');
    const added = await skills('add', '../source');
    expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('lock.beside')]);
    writeSkill(join(project, theirs), 'theirs', 'Other.');
    const { code, stdout } = await skills('verify');
    expect([code, stdout.split('\n')]).toEqual([
      1,
      expect.arrayContaining([
        'custom.units: as locked',
        'Units in .agents/skills/units: not compared by skills-lock.json: skillcell.lock.json has this folder',
        expect.stringContaining(`theirs in ${theirs}: CHANGED by skills-lock.json`) as string,
      ]),
    ]);
    const report = JSON.parse((await skills('verify', '--json')).stdout) as { skillsLock: { state: string }[] };
    expect(report.skillsLock.map(({ state }) => state)).toEqual(['not-compared', 'changed']);
    expect((await skills('verify', 'units')).code).toBe(0);
  });

  it('approves nothing: --frozen refuses it by its own error', async () => {
    write(COMPUTED);
    const { code, stderr } = await skills('list', '--frozen');
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is only skills-lock.json')]);
    expect(stderr).toContain('skillcell skills install');
    expect(existsSync(lockFile)).toBe(false);
  });
});
