import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';
import { addSkills } from '../../../src/library/install/add-skills.ts';
import { approveSkills } from '../../../src/library/install/approve-skills.ts';
import { installSkills } from '../../../src/library/install/install-skills.ts';
import { removeSkills } from '../../../src/library/install/remove-skills.ts';
import { findUpdates, takeUpdates } from '../../../src/library/install/update-skills.ts';
import { verifySkills } from '../../../src/library/install/verify-skills.ts';
import { changeSkills, recoverSkills } from '../../../src/library/lock/change-skills.ts';
import { compareLocked, UNSEEN } from '../../../src/library/lock/compare-locked.ts';
import { readLock } from '../../../src/library/lock/format/read-lock.ts';
import { findInSource } from '../../../src/library/sources/find-in-source.ts';
import { parseSource } from '../../../src/library/sources/parse-source.ts';
import { openTreeCache, type TreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { SKILL_ENTRIES } from '../../../src/skills/load/files/list-skill-files.ts';

const PROGRAM = fileURLToPath(new URL('../../fixtures/library/add-program.ts', import.meta.url));
const run = promisify(execFile);

let home: string;
let project: string;
let lockFile: string;
let cache: TreeCache;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'lock-')));
  project = join(home, 'project');
  mkdirSync(project);
  lockFile = join(project, 'skillcell.lock.json');
  cache = openTreeCache(join(home, 'cache'));
  write('units', 'Give SI units.');
});
afterEach(() => {
  cache.close();
  removeTree(home);
});

function write(name: string, body: string, more = ''): void {
  mkdirSync(join(home, 'source', name, 'scripts'), { recursive: true });
  writeFileSync(
    join(home, 'source', name, 'SKILL.md'),
    `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`,
  );
  writeFileSync(join(home, 'source', name, 'scripts', 'run.sh'), 'true\n', { mode: 0o755 });
}

async function add(options: { force?: boolean } = {}): Promise<string[]> {
  const { skills } = await findInSource(parseSource('../source', project), { cache, lockFolder: project });
  return (await addSkills(skills, { lockFile, into: '.agents/skills', ...options })).map(
    ({ id, state }) => `${state} ${id}`,
  );
}

const installed = (...path: string[]): string => join(project, '.agents/skills', ...path);
const deviations = async (): Promise<string[]> =>
  ((await verifySkills({ lockFile })) ?? []).flatMap((row) =>
    row.deviations.map(({ state, path }) => `${state} ${path}`),
  );

describe('locked skills', () => {
  it('are compared file by file, and restored', async () => {
    expect(await add()).toEqual(['added custom.units']);
    expect(await deviations()).toEqual([]);
    writeFileSync(installed('units', 'SKILL.md'), 'x');
    chmodSync(installed('units', 'scripts/run.sh'), 0o644);
    symlinkSync('/etc', installed('units', 'link'));
    mkdirSync(installed('units', 'node_modules'));
    writeFileSync(installed('units', 'node_modules/a.js'), '');
    expect(await deviations()).toEqual([
      'changed SKILL.md',
      'added link',
      'added node_modules/a.js',
      'changed scripts/run.sh',
    ]);
    const [row] = await installSkills({ lockFile, cache, force: true });
    expect([row?.state, row?.deviations.length]).toEqual(['restored', 4]);
    expect(await deviations()).toEqual([]);
    rmSync(installed('units'), { recursive: true });
    expect(await deviations()).toEqual(['missing SKILL.md', 'missing scripts/run.sh']);
    expect((await installSkills({ lockFile, cache })).map(({ state }) => state)).toEqual(['installed']);
  });

  it('are compared up to a number of files, and the report says so', async () => {
    await add();
    const [row] = readLock(lockFile)?.values() ?? [];
    mkdirSync(installed('units', 'more'));
    for (let index = 0; index <= SKILL_ENTRIES; index += 1) writeFileSync(installed('units', 'more', `${index}`), '');
    const found = compareLocked(project, row as NonNullable<typeof row>);
    expect(found.filter(({ reason }) => reason === UNSEEN)).toHaveLength(1);
    expect(found.length).toBeGreaterThan(SKILL_ENTRIES - 10);
  });

  it('report a file that is missing in an existing folder', async () => {
    await add();
    rmSync(installed('units', 'scripts/run.sh'));
    expect(await deviations()).toEqual(['missing scripts/run.sh']);
    expect((await installSkills({ lockFile, cache })).map(({ state }) => state)).toEqual(['restored']);
    expect(await deviations()).toEqual([]);
  });

  it('are reported where they import a removed skill', async () => {
    write('notes', 'Write notes.', 'imports:\n  - custom.units@^1\n');
    write('dates', 'Write dates.');
    await add();
    const { removed, diagnostics } = await removeSkills({ lockFile, refs: ['units'] });
    expect(removed).toEqual(['custom.units']);
    expect(diagnostics.map(({ code, severity, path, message }) => [code, severity, path, message])).toEqual([
      [
        'lock.imported',
        'warning',
        '.agents/skills/notes/SKILL.md',
        'custom.notes imports custom.units, which is removed.',
      ],
    ]);
    expect((await removeSkills({ lockFile, refs: ['notes', 'dates'] })).diagnostics).toEqual([]);
  });

  it('are not replaced in a folder with local changes, or of unknown origin', async () => {
    mkdirSync(installed('units'), { recursive: true });
    writeFileSync(installed('units', 'SKILL.md'), 'mine');
    await expect(add()).rejects.toMatchObject({ code: 'lock.mismatch' });
    await add({ force: true });
    writeFileSync(installed('units', 'notes.txt'), 'mine');
    write('units', 'Give other units.');
    await expect(add()).rejects.toMatchObject({ code: 'lock.mismatch', diagnostics: [{ code: 'lock.added' }] });
    const updates = await findUpdates({ lockFile, cache });
    await expect(takeUpdates(updates, { lockFile, cache })).rejects.toMatchObject({ code: 'lock.mismatch' });
    await expect(removeSkills({ lockFile, refs: ['units'] })).rejects.toMatchObject({ code: 'lock.mismatch' });
    expect(readFileSync(installed('units', 'notes.txt'), 'utf8')).toBe('mine');
    expect((await removeSkills({ lockFile, refs: ['units'], force: true })).removed).toEqual(['custom.units']);
    expect(existsSync(installed('units'))).toBe(false);
  });

  it('keep an approval while their bytes stay the same', async () => {
    await add();
    await approveSkills({ lockFile, refs: ['sk:units'], as: 'Ana' });
    await add();
    expect(readLock(lockFile)?.get('custom.units')?.approval?.by).toBe('Ana');
    await installSkills({ lockFile, cache, frozen: true });
    write('units', 'Give other units.', 'allowed-tools: Bash\n');
    const updates = await findUpdates({ lockFile, cache });
    expect(updates[0]?.difference?.tools.added).toEqual(['Bash']);
    expect(updates[0]?.difference?.files.map(({ path }) => path)).toEqual(['SKILL.md']);
    expect(updates[0]?.difference?.files[0]?.lines).toContain('+Give other units.');
    await takeUpdates(updates, { lockFile, cache });
    expect(readLock(lockFile)?.get('custom.units')?.approval).toBeNull();
    await expect(installSkills({ lockFile, cache, frozen: true })).rejects.toMatchObject({ code: 'lock.unapproved' });
    writeFileSync(installed('units', 'SKILL.md'), 'x');
    await expect(approveSkills({ lockFile, refs: ['units'], as: 'Ana' })).rejects.toMatchObject({
      code: 'lock.mismatch',
    });
  });

  it('are refused without a write where their source now has other bytes', async () => {
    await add();
    cache.close();
    removeTree(join(home, 'cache'));
    cache = openTreeCache(join(home, 'cache'));
    rmSync(installed('units'), { recursive: true });
    write('units', 'Give other units.');
    await expect(installSkills({ lockFile, cache })).rejects.toMatchObject({ code: 'lock.mismatch' });
    expect(existsSync(installed('units'))).toBe(false);
  });

  it('are not written through a link', async () => {
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), join(project, '.agents'));
    await expect(add()).rejects.toMatchObject({ code: 'lock.mismatch' });
    expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
    expect(readdirSync(project)).toEqual(['.agents']);
  });

  it('are all present after several processes added them at once', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `skill-${index}`);
    for (const name of names) write(name, name);
    await Promise.all(names.map((name) => run(process.execPath, [PROGRAM, project, name])));
    expect([...(readLock(lockFile)?.keys() ?? [])]).toEqual(names.map((name) => `custom.${name}`));
    expect(await deviations()).toEqual([]);
    expect(readdirSync(project).toSorted()).toEqual(['.agents', 'skillcell.lock.json']);
  });
});

describe('a process that changes skills', () => {
  it('takes over from a dead process, and waits for a living one', async () => {
    const child = spawn('sleep', ['60']);
    const busy = join(project, '.skillcell.lock.json.busy');
    try {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
      const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
      writeFileSync(busy, `${ownerName({ ...currentOwner(), pid: child.pid ?? 0, startTime })}-0011223344556677`);
      await expect(recoverSkills(lockFile, { patienceMs: 0 })).rejects.toMatchObject({ code: 'store.conflict' });
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect(await add()).toEqual(['added custom.units']);
    expect(existsSync(busy)).toBe(false);
  });

  it('does not execute a journal that came with a repository', async () => {
    await add();
    const staging = join(project, '.skillcell.lock.json.staging');
    mkdirSync(staging);
    chmodSync(staging, 0o755);
    writeFileSync(
      join(staging, 'journal.json'),
      JSON.stringify({ lock: '{}', moves: [{ place: 'other', isNew: true }] }),
    );
    await expect(verifySkills({ lockFile })).rejects.toMatchObject({ code: 'lock.invalid' });
    chmodSync(staging, 0o700);
    writeFileSync(
      join(staging, 'journal.json'),
      JSON.stringify({ lock: '{}', moves: [{ place: '.git/hooks', isNew: true }] }),
    );
    await expect(verifySkills({ lockFile })).rejects.toMatchObject({ code: 'lock.invalid' });
  });

  it.each<[string, (staging: string, journal: string) => void]>([
    [
      'lies behind a link',
      (staging, journal) => {
        mkdirSync(join(home, 'there'), { mode: 0o700 });
        writeFileSync(join(home, 'there', 'journal.json'), journal);
        symlinkSync(join(home, 'there'), staging);
      },
    ],
    ['has an unknown field', (staging, journal) => stage(staging, journal.replace('{', '{"more":1,'))],
    ['names a place above the project', (staging, journal) => stage(staging, journal.replace('"other"', '"../other"'))],
    ['has no moves', (staging) => stage(staging, '{"lock":"{}"}')],
  ])('does not execute a journal that %s', async (_, make) => {
    await add();
    const before = readFileSync(lockFile, 'utf8');
    const journal = JSON.stringify({ lock: '{}', moves: [{ place: 'other', isNew: false }] });
    mkdirSync(join(project, 'other'));
    make(join(project, '.skillcell.lock.json.staging'), journal);
    await expect(verifySkills({ lockFile })).rejects.toMatchObject({ code: 'lock.invalid' });
    expect([readFileSync(lockFile, 'utf8'), existsSync(join(project, 'other'))]).toEqual([before, true]);
  });

  it('first completes the interrupted change of another process', async () => {
    await add();
    const lock = '{"schema":"skillcell/lock@1","skills":{}}';
    const moves = [{ place: '.agents/skills/units', isNew: false }];
    stage(join(project, '.skillcell.lock.json.staging'), JSON.stringify({ lock, moves }));
    const code = 'skills.reference-unknown';
    await expect(removeSkills({ lockFile, refs: ['units'] })).rejects.toMatchObject({ code });
    expect(existsSync(installed('units'))).toBe(false);
  });

  it('does not execute a journal of another user', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can make one');
    await add();
    const staging = join(project, '.skillcell.lock.json.staging');
    stage(staging, JSON.stringify({ lock: '{}', moves: [] }));
    chownSync(staging, 12_345, 12_345);
    await expect(verifySkills({ lockFile })).rejects.toThrow('this user did not begin it here');
  });

  it('moves nothing through a link that appeared meanwhile', async () => {
    await add();
    const staging = join(project, '.skillcell.lock.json.staging');
    mkdirSync(join(home, 'elsewhere', 'old'), { recursive: true });
    symlinkSync(join(home, 'elsewhere'), join(project, 'link'));
    stage(staging, JSON.stringify({ lock: '{}', moves: [{ place: 'link/old', isNew: false }] }));
    await expect(recoverSkills(lockFile)).rejects.toMatchObject({ code: 'lock.mismatch' });
    expect(existsSync(join(home, 'elsewhere', 'old'))).toBe(true);
  });

  it('keeps the mode of a lock file, and leaves no trace of a change that fails', async () => {
    await add();
    expect(statSync(lockFile).mode & 0o777).toBe(0o644);
    chmodSync(lockFile, 0o640);
    write('notes', 'Write notes.');
    await add();
    expect(statSync(lockFile).mode & 0o777).toBe(0o640);
    const tree = new Map([['a\0b', { bytes: Buffer.from(''), executable: false }]]);
    const entry = readLock(lockFile)?.get('custom.notes') ?? null;
    const changes = [{ id: 'custom.notes', entry, folder: { place: '.agents/skills/notes', tree } }];
    await expect(changeSkills(lockFile, async () => ({ changes, result: null }))).rejects.toThrow();
    expect(readdirSync(project).toSorted()).toEqual(['.agents', 'skillcell.lock.json']);
    expect(await deviations()).toEqual([]);
  });

  it('stops waiting for the lock file when aborted', async () => {
    writeFileSync(join(project, '.skillcell.lock.json.busy'), `${ownerName(currentOwner())}-0011223344556677`);
    const controller = new AbortController();
    const waiting = recoverSkills(lockFile, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow();
    await expect(recoverSkills(lockFile, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never');
  });
});

function stage(staging: string, journal: string): void {
  mkdirSync(join(staging, 'node_modules'), { recursive: true, mode: 0o700 });
  chmodSync(staging, 0o700);
  writeFileSync(join(staging, 'journal.json'), journal);
}
