import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifySkills } from '../../../src/library/install/verify-skills.ts';
import { readLock } from '../../../src/library/lock/format/read-lock.ts';
import { type CliRun, runCli } from '../../fixtures/spawn-cli.ts';

const ROUNDS = 4;
const TIMEOUT_MS = 600_000;

let home: string;
let project: string;
let lockFile: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'two-writers-')));
  project = join(home, 'project');
  mkdirSync(project);
  lockFile = join(project, 'skillcell.lock.json');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function writeSkill(name: string, body: string): void {
  mkdirSync(join(home, 'source', name), { recursive: true });
  writeFileSync(join(home, 'source', name, 'SKILL.md'), `---\nname: ${name}\ndescription: ${name}.\n---\n${body}\n`);
}

/** Runs the command line in a process of its own. */
const skills = async (...argv: string[]): Promise<CliRun> =>
  runCli(['skills', ...argv], { cwd: project, env: { HOME: home, XDG_CACHE_HOME: join(home, 'cache') } });

const adds = (...names: string[]): Promise<CliRun> =>
  skills('add', '../source', ...names.flatMap((name) => ['--skill', name]));

const ended = (runs: CliRun[]): string[] => runs.map(({ code, stderr }) => `${code} ${stderr}`);

describe('two processes that change skills at once', { timeout: TIMEOUT_MS }, () => {
  it('lose no change: add with add, and add with remove', async () => {
    for (const name of ['a', 'b', 'c']) writeSkill(name, 'First.');
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(ended(await Promise.all([adds('a'), adds('b')]))).toEqual(['0 ', '0 ']);
      expect([...(readLock(lockFile)?.keys() ?? [])]).toEqual(['custom.a', 'custom.b']);
      expect(ended(await Promise.all([adds('c'), skills('remove', 'a', 'b')]))).toEqual(['0 ', '0 ']);
      expect([...(readLock(lockFile)?.keys() ?? [])]).toEqual(['custom.c']);
      expect((await verifySkills({ lockFile }))?.flatMap(({ deviations }) => deviations)).toEqual([]);
      expect(ended([await skills('remove', 'c')])).toEqual(['0 ']);
      expect(readdirSync(project).toSorted()).toEqual(['.agents', 'skillcell.lock.json']);
    }
  });

  it('never approve bytes of a concurrent update', async () => {
    writeSkill('a', 'First.');
    await adds('a');
    for (let round = 0; round < ROUNDS; round += 1) {
      writeSkill('a', `Of round ${round}.`);
      const before = readLock(lockFile)?.get('custom.a')?.digest;
      const [approved, updated] = await Promise.all([
        skills('approve', 'a', '--as', 'Ana', '--json'),
        skills('update'),
      ]);
      expect(ended([approved, updated])).toEqual(['0 ', '0 ']);
      const { digest, approval } = readLock(lockFile)?.get('custom.a') ?? {};
      expect(digest).not.toBe(before);
      // In either order, an approval covers only the bytes that its process named.
      const named = (JSON.parse(approved.stdout) as { approved: { digest: string }[] }).approved[0]?.digest;
      expect(approval?.digest ?? null).toBe(named === digest ? digest : null);
      expect((await verifySkills({ lockFile }))?.flatMap(({ deviations }) => deviations)).toEqual([]);
    }
  });
});
