import { execFile } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeSkills } from '../../../src/library/lock/change-skills.ts';
import { readLock } from '../../../src/library/lock/format/read-lock.ts';

const PROGRAM = fileURLToPath(new URL('../../fixtures/library/read-lock-program.ts', import.meta.url));
const run = promisify(execFile);
const EMPTY = '{"schema":"skillcell/lock@1","skills":{}}';

let home: string;
let project: string;
let lockFile: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'read-lock-')));
  project = join(home, 'project');
  mkdirSync(project);
  lockFile = join(project, 'skillcell.lock.json');
  writeFileSync(join(home, 'secret'), 'root:hunter2:');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** The error of each way to read. Runs in a separate process, which is killed if it hangs: a blocking system call cannot be aborted otherwise. */
async function read(): Promise<({ code: string; text: string } | null)[]> {
  const { stdout } = await run(process.execPath, [PROGRAM, lockFile], { timeout: 120_000, killSignal: 'SIGKILL' });
  return JSON.parse(stdout) as ({ code: string; text: string } | null)[];
}

const codesOf = (said: Awaited<ReturnType<typeof read>>): unknown[] => said.map((error) => error?.code);

describe('a lock file of a repository', () => {
  it.each<[string, (path: string) => unknown, string]>([
    ['is a fifo', async (path) => await run('mkfifo', [path]), 'it must be a regular file'],
    ['is a link to a device', (path) => symlinkSync('/dev/zero', path), 'it leads out of its folder'],
    ['is a link to a file elsewhere', (path) => symlinkSync('../secret', path), 'it leads out of its folder'],
    ['is a folder', (path) => mkdirSync(path), 'it must be a regular file'],
    [
      'is too large',
      (path) => (writeFileSync(path, ''), truncateSync(path, 1024 ** 3)),
      'it has more bytes than are read',
    ],
    ['is a hard link to another file', (path) => linkSync(join(home, 'secret'), path), 'it must hold JSON'],
  ])('is refused at once, and without its content in the message, where it %s', async (_, make, reason) => {
    await make(lockFile);
    await make(join(project, 'skills-lock.json'));
    const said = await read();
    expect(codesOf(said)).toEqual(Array(4).fill('lock.invalid'));
    for (const error of said) {
      expect(error?.text).toContain(reason);
      expect(error?.text).not.toMatch(/root|hunter/);
    }
  });

  it('is read through a link within its folder, and the link stays', async () => {
    mkdirSync(join(project, 'locks'));
    writeFileSync(join(project, 'locks/team.json'), EMPTY);
    symlinkSync('locks/team.json', lockFile);
    expect(readLock(lockFile)?.size).toBe(0);
    await changeSkills(lockFile, async () => ({ changes: [{ id: 'custom.a', entry: null }], result: null }));
    expect(readFileSync(join(project, 'locks/team.json'), 'utf8')).toContain('skillcell/lock@1');
    expect(readdirSync(project)).toEqual(['locks', 'skillcell.lock.json']);
  });
});

describe('the file that names the process which changes skills', () => {
  it.each<[string, (path: string) => unknown]>([
    ['a fifo', async (path) => await run('mkfifo', [path])],
    ['a folder', (path) => mkdirSync(path)],
    ['a dangling link', (path) => symlinkSync('nothing', path)],
    ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
    ['a large file', (path) => (writeFileSync(path, ''), truncateSync(path, 1024 ** 3))],
  ])('names no process where it is %s', async (_, make) => {
    writeFileSync(lockFile, EMPTY);
    await make(join(project, '.skillcell.lock.json.busy'));
    // For a reader, a dangling link counts as a missing file.
    expect(['store.conflict', undefined]).toContain((await read())[1]?.code);
    const changed = changeSkills(lockFile, async () => ({ changes: [], result: null }));
    await expect(changed).rejects.toThrow('it was not written by skillcell');
  });
});
