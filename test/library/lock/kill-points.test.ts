import { execFile } from 'node:child_process';
import {
  cpSync,
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
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { packSkill } from '../../../src/archives/pack-skill.ts';
import { verifySkills } from '../../../src/library/install/verify-skills.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { digestOf } from '../../../src/skills/text/digest.ts';
import { describeWith, MISSING_GIT, MISSING_STRACE } from '../../fixtures/describe-with.ts';
import { makeRepository, type TestRepository } from '../../fixtures/git-repository.ts';
import { IS_SAMPLE } from '../../fixtures/share.ts';
import { cacheOptions, doWork, KEPT_TREE, type KilledWork } from '../../fixtures/library/kill-program.ts';

const PROGRAM = fileURLToPath(new URL('../../fixtures/library/kill-program.ts', import.meta.url));
/** System calls that change names; a process is killed at each of them. */
const NAMING = ['rename', 'link', 'unlink', 'unlinkat', 'rmdir', 'mkdir'] as const;
const WRITES = 50;
/** Most writes beside git are git's own, into temporary folders; under strace, each git process takes several times as long. */
const WRITES_BESIDE_GIT = 20;
/** The kill points of a sample. */
const SAMPLE = ['rename:1', 'link:1', 'write:5'];
/** Files that a killed process leaves for the next one. */
const TEMPORARY = /\/(?:\.[^/]+\.(?:part|staging|busy)|trust\.json\.lock|owed\/[^/]+|claims\/[^/]+)(?:[./]|$)/;
const AT_ONCE = 3;
/** Attempts at one kill point, if strace fails. */
const ATTEMPTS = 3;
/** Some hundred processes, one after the other, on a busy machine. */
const TIMEOUT_MS = 900_000;

let home: string;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'kill-points-')));
  // The program starts some hundred times: a bundle takes a third of the time.
  await build({
    entryPoints: [PROGRAM],
    outdir: dirname(bundled()),
    outExtension: { '.js': '.mjs' },
    banner: {
      js: "import { createRequire as requireHere } from 'node:module'; const require = requireHere(import.meta.url);",
    },
    ...{
      bundle: true,
      splitting: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      // A CommonJS package whose exported names Node finds, but a bundle does not.
      external: ['yazl'],
      logLevel: 'error',
    },
  });
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(home, 'program', 'node_modules'));
  // The sources find it two folders up as well.
  cpSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), join(home, 'package.json'));
});
afterAll(() => removeTree(home));

type PreparedWork = [KilledWork, (folder: string) => Promise<unknown>];
/** Work that writes as the work of a sample does. */
const OTHER_WORK: PreparedWork[] = [
  ['update', outdated],
  ['remove', added],
  ['approve', added],
  ['trust', added],
  ['unpack', async () => {}],
  ['fill', async () => {}],
];
const OTHER_GIT_WORK: PreparedWork[] = [['update-git', outdatedInGit]];

describeWith('kill points', MISSING_STRACE, () => {
  it.each<PreparedWork>([
    ['add', async () => {}],
    ['install', installable],
    ['fix', broken],
    ['pack', async () => {}],
    ['evict', crowded],
    ...(IS_SAMPLE ? [] : OTHER_WORK),
  ])(
    '%s leaves the old state or the new one at each kill point, and the next run succeeds and cleans up',
    { timeout: TIMEOUT_MS },
    killEverywhere,
  );
});

describeWith('kill points of git', MISSING_STRACE ?? MISSING_GIT, () => {
  it.each<PreparedWork>([['add-git', committed], ...(IS_SAMPLE ? [] : OTHER_GIT_WORK)])(
    '%s leaves the old state or the new one at each kill point, and the next run succeeds and cleans up',
    { timeout: TIMEOUT_MS },
    killEverywhere,
  );
});

async function killEverywhere(work: KilledWork, prepare: (folder: string) => Promise<unknown>): Promise<void> {
  const before = join(home, `${work}-before`);
  await makeScene(before);
  await prepare(before);
  const after = join(home, `${work}-after`);
  cpSync(before, after, { recursive: true });
  await doWork(work, after);
  const [old, next] = [seen(before), seen(after)];
  expect(next).not.toEqual(old);

  const kills = { count: 0 };
  const killAt = async (point: string, attempt = 1): Promise<boolean> => {
    const scene = join(home, `${work}-${point.replaceAll(':', '-')}-${attempt}`);
    cpSync(before, scene, { recursive: true });
    const isKilled = await runKilled(work, scene, point);
    if (isKilled === undefined && attempt < ATTEMPTS) return await killAt(point, attempt + 1);
    expect(isKilled, `strace failed ${ATTEMPTS} times at ${point}`).toBeDefined();
    const where = `${work} killed at ${point}`;
    const lockFile = join(scene, 'project', 'skillcell.lock.json');
    // The first reader completes the interrupted change.
    const rows = (await verifySkills({ lockFile })) ?? [];
    if (work !== 'install' && work !== 'fix')
      expect(
        rows.flatMap(({ deviations }) => deviations),
        where,
      ).toEqual([]);
    assertOneOf(work, seen(scene).project, old.project, next.project, where);
    assertKept(work, scene);
    await doWork(work, scene);
    assertKept(work, scene);
    expect(seen(scene), `${where}, and run again`).toEqual(next);
    expect(
      names(scene).filter((name) => TEMPORARY.test(`/${name}`)),
      where,
    ).toEqual([]);
    removeTree(scene);
    if (isKilled === true) kills.count += 1;
    return isKilled === true;
  };
  if (IS_SAMPLE) {
    await eachAtOnce(SAMPLE, async (point) => void (await killAt(point)));
    expect(kills.count).toBeGreaterThan(0);
    return;
  }
  await eachAtOnce(NAMING, async (call) => {
    for (let when = 1; await killAt(`${call}:${when}`); when += 1);
  });
  const writes = await countWrites(work, before);
  await eachAtOnce(
    seeded(writes, work.endsWith('-git') ? WRITES_BESIDE_GIT : WRITES),
    async (when) => void (await killAt(`write:${when}`)),
  );
  expect(kills.count).toBeGreaterThan(5);
}

/** `fix` may be complete for some files only. All other work leaves the old state or the new one. */
function assertOneOf(
  work: KilledWork,
  now: Record<string, string>,
  old: Record<string, string>,
  next: Record<string, string>,
  where: string,
): void {
  if (work !== 'fix') expect([old, next], where).toContainEqual(now);
  else
    for (const [path, file] of Object.entries(now))
      expect([old[path], next[path]], `${where}: ${path}`).toContain(file);
}

function bundled(): string {
  return join(home, 'program', 'lib', 'kill-program.mjs');
}

async function makeScene(folder: string): Promise<void> {
  mkdirSync(join(folder, 'project'), { recursive: true });
  for (const name of ['alpha', 'beta']) writeSkill(join(folder, 'source', name), name, 'First.');
  const tree = new Map(KEPT_TREE);
  writeFileSync(join(folder, 'source.zip'), (await packSkill('kept', tree, { store: true })).archive);
}

function writeSkill(folder: string, name: string, body: string): void {
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), textOf(name, body));
  writeFileSync(join(folder, 'scripts', 'run.sh'), 'true\n', { mode: 0o755 });
}

function textOf(name: string, body: string): string {
  return `---\nname: ${name}\ndescription: The skill ${name}.\n---\n${body}\n`;
}

async function added(folder: string): Promise<void> {
  await doWork('add', folder);
}

async function installable(folder: string): Promise<void> {
  await added(folder);
  rmSync(join(folder, 'project', '.agents'), { recursive: true });
}

async function outdated(folder: string): Promise<void> {
  await added(folder);
  for (const name of ['alpha', 'beta']) writeSkill(join(folder, 'source', name), name, 'Second.');
}

async function broken(folder: string): Promise<void> {
  await added(folder);
  for (const name of ['alpha', 'beta']) {
    const place = join(folder, 'project', '.agents/skills', name);
    writeFileSync(join(place, 'compact.md'), '\uFEFFShort.\n');
    writeFileSync(join(place, 'SKILL.md'), `\uFEFF---\nname: ${name}\ndescription: First: text.\n---\nText.\n`);
  }
}

async function committed(folder: string): Promise<TestRepository> {
  const repository = makeRepository(join(folder, 'repository'));
  repository.commit(skillFiles('First.'));
  return repository;
}

async function outdatedInGit(folder: string): Promise<void> {
  const repository = await committed(folder);
  await doWork('add-git', folder);
  repository.commit(skillFiles('Second.'));
}

function skillFiles(body: string): Record<string, string> {
  return Object.fromEntries(['alpha', 'beta'].map((name) => [`${name}/SKILL.md`, textOf(name, body)]));
}

/** There is room only for the last skill. */
async function crowded(folder: string): Promise<void> {
  const cache = openTreeCache(join(folder, 'cache'));
  for (const text of ['one', 'two', 'three'])
    cache.keep(new Map([['SKILL.md', { bytes: Buffer.from(text), executable: false }]]));
  cache.close();
}

/** Every kept tree has the digest in its name. */
function assertKept(work: KilledWork, folder: string): void {
  const trees = join(folder, 'cache', 'trees');
  const cache = openTreeCache(join(folder, 'cache'), cacheOptions(work));
  // The first process that opens it completes the interrupted work.
  cache.find(digestOf('nothing'));
  for (const name of existsSync(trees) ? readdirSync(trees) : [])
    if (!name.startsWith('.')) expect(cache.find(`sha256:${name}`), name).toBeDefined();
  cache.close();
}

/**
 * Runs the work under strace, which kills it, or its git process, at one system call.
 * @returns whether a process was killed; undefined if strace itself failed, as it does at times when a stopped process is killed
 */
async function runKilled(work: KilledWork, folder: string, point: string): Promise<boolean | undefined> {
  const [call, when] = point.split(':');
  const args = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${when}`];
  return await new Promise((resolve, reject) => {
    execFile('strace', [...args, process.execPath, bundled(), work, folder], (error, _stdout, stderr) => {
      // strace ends with the status of its program.
      if (error === null) resolve(false);
      else if (error.signal === 'SIGKILL' || error.code === 137) resolve(true);
      // A killed git command shows as a source that is out of reach.
      else if (stderr.includes('store.unavailable')) resolve(true);
      else if (stderr.startsWith('strace: ptrace(')) resolve(undefined);
      else reject(new Error(`${work} at ${point}: ${stderr}`));
    });
  });
}

/** The largest number of writes by one process or thread: `when` counts for each of them, and the first that reaches its number is killed. */
async function countWrites(work: KilledWork, before: string): Promise<number> {
  const scene = join(home, `${work}-counted`);
  cpSync(before, scene, { recursive: true });
  const log = join(home, `${work}.log`);
  await new Promise<void>((resolve, reject) => {
    execFile(
      'strace',
      ['-f', '--seccomp-bpf', '-qq', '-o', log, '-e', 'trace=write', process.execPath, bundled(), work, scene],
      (error) => (error === null ? resolve() : reject(new Error('strace cannot count', { cause: error }))),
    );
  });
  removeTree(scene);
  const counts = new Map<string, number>();
  for (const [, process = ''] of readFileSync(log, 'utf8').matchAll(/^(\d+) +write\(/gm))
    counts.set(process, (counts.get(process) ?? 0) + 1);
  return Math.max(...counts.values());
}

/** A fixed sample of the numbers from 1 to the last one. */
function seeded(last: number, count: number): number[] {
  const all = Array.from({ length: last }, (_, index) => index + 1);
  return all.toSorted((a, b) => digestOf(`seed 1 ${a}`).localeCompare(digestOf(`seed 1 ${b}`))).slice(0, count);
}

async function eachAtOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
    }),
  );
}

/** Visible files by name, with digest and mode. Files for use between processes are left out. */
function seen(folder: string): { project: Record<string, string>; cache: Record<string, string> } {
  return { project: filesBelow(join(folder, 'project')), cache: filesBelow(join(folder, 'cache', 'trees')) };
}

function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      return TEMPORARY.test(path.slice(folder.length))
        ? []
        : [[path.slice(folder.length), `${digestOf(readFileSync(path))} ${statSync(path).mode.toString(8)}`]];
    }),
  );
}

function names(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}
