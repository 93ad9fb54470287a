import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asUser, requireOrdinaryUser } from '../fixtures/ordinary-cli.ts';

type Check = (root: string, whole: boolean) => boolean;
const setup = new URL('../../scripts/setup/', import.meta.url).href;
// Plain JavaScript without declarations, whose types the compiler does not know.
const { packagesReady } = (await import(`${setup}packages.js`)) as { packagesReady: Check };
const { packagesUnchanged } = (await import(`${setup}ready.js`)) as { packagesUnchanged: Check };

const guard = fileURLToPath(new URL('../../scripts/setup/die-with-parent.cjs', import.meta.url));
const takeLock = fileURLToPath(new URL('../fixtures/set-up/take-lock.js', import.meta.url));
let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-set-up-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

it('an npm does not begin after its set-up has ended, and continues if its parent is another process', () => {
  const begin = (setUpPid: number): string =>
    spawnSync(process.execPath, ['--require', guard, '-p', '"begun"'], {
      env: { ...process.env, SKILLCELL_SETUP_PID: String(setUpPid) },
      encoding: 'utf8',
    }).stdout;
  expect(begin(spawnSync('true').pid)).toBe('');
  expect(begin(process.ppid)).toBe('begun\n');
});

describe('withLock()', () => {
  function start(holdMs: number): ChildProcess {
    const child = spawn(process.execPath, [takeLock, join(folder, 'locks'), join(folder, 'log'), String(holdMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  it('admits one process at a time', async () => {
    const ends = [1, 2, 3, 4].map(() => once(start(50), 'exit'));
    expect((await Promise.all(ends)).map(([code]) => code as unknown)).toEqual([0, 0, 0, 0]);
    const rows = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    expect(rows).toHaveLength(8);
    for (let index = 0; index < 8; index += 2) expect(rows[index + 1]).toBe(rows[index]?.replace('in', 'out'));
  });

  it('continues at once after a killed holder', async () => {
    const first = start(60_000);
    await once(first.stdout!, 'data');
    first.kill('SIGKILL');
    await once(first, 'exit');
    const second = start(0);
    expect(String((await once(second.stdout!, 'data'))[0])).toBe('held\n');
    expect(await once(second, 'exit')).toEqual([0, null]);
  });

  it('is taken over once from a dead owner, however many processes wait', async () => {
    mkdirSync(join(folder, 'locks'));
    writeFileSync(join(folder, 'locks', '7'), JSON.stringify({ pid: 2 ** 22 + 1, start: '1', space: 'elsewhere' }));
    utimesSync(join(folder, 'locks', '7'), new Date(0), new Date(0));
    const ends = [1, 2, 3].map(() => once(start(30), 'exit'));
    await Promise.all(ends);
    const rows = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    for (let index = 0; index < 6; index += 2) expect(rows[index + 1]).toBe(rows[index]?.replace('in', 'out'));
    expect(readdirSync(join(folder, 'locks'))).toEqual(['10']);
  });
});

describe('packagesReady()', () => {
  const lock = {
    packages: {
      '': { name: 'x' },
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
      'node_modules/b-darwin': { version: '1.0.0', integrity: 'sha512-b', optional: true },
    },
  };

  function write(path: string, value: unknown): void {
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(value));
  }

  it('requires an installation if it is missing or belongs to another lock', () => {
    write('package-lock.json', lock);
    expect(packagesReady(folder, true)).toBe(false);
    write('node_modules/.package-lock.json', {
      packages: { 'node_modules/a': { version: '0.9.0', integrity: 'sha512-a' } },
    });
    expect(packagesReady(folder, true)).toBe(false);
  });

  it('adopts an installation by npm itself, and then needs only the stamp', () => {
    write('package-lock.json', lock);
    write('node_modules/.package-lock.json', { packages: { 'node_modules/a': lock.packages['node_modules/a'] } });
    expect(packagesUnchanged(folder, true)).toBe(false);
    expect(packagesReady(folder, true)).toBe(true);
    expect(packagesUnchanged(folder, true)).toBe(true);
  });

  it('accepts packages without those of tests only where they suffice', () => {
    write('package-lock.json', lock);
    write('node_modules/.package-lock.json', { packages: { 'node_modules/a': lock.packages['node_modules/a'] } });
    packagesReady(folder, true);
    const stamp = join(folder, 'node_modules', '.skillcell-setup.json');
    writeFileSync(stamp, JSON.stringify({ ...JSON.parse(readFileSync(stamp, 'utf8')), whole: false }));
    expect([packagesUnchanged(folder, false), packagesReady(folder, false)]).toEqual([true, true]);
    expect([packagesUnchanged(folder, true), packagesReady(folder, true)]).toEqual([false, false]);
    utimesSync(join(folder, 'package-lock.json'), new Date(), new Date(1000));
    expect([packagesReady(folder, false), packagesReady(folder, true)]).toEqual([true, false]);
  });

  it('compares contents if the time of the lock has changed, and notices a change', () => {
    write('package-lock.json', lock);
    write('node_modules/.package-lock.json', { packages: { 'node_modules/a': lock.packages['node_modules/a'] } });
    packagesReady(folder, true);
    utimesSync(join(folder, 'package-lock.json'), new Date(), new Date(1000));
    expect(packagesUnchanged(folder, true)).toBe(false);
    expect(packagesReady(folder, true)).toBe(true);
    write('package-lock.json', { packages: { ...lock.packages, 'node_modules/c': { version: '1.0.0' } } });
    expect(packagesReady(folder, true)).toBe(false);
  });
});

describe('setUp() of a checkout without write access', () => {
  const lock = { packages: { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } } };
  const program = `import(process.argv[1]).then(({ setUp }) => setUp(process.argv[2], true)).then(
    (node) => console.log(node === process.execPath),
    ({ message, hint }) => console.log([message, hint].join(' ')))`;
  const setUp = (): string => {
    chmodSync(folder, 0o555);
    const { stdout } = spawnSync(process.execPath, [...asUser, '-e', program, `${setup}set-up.js`, folder], {
      encoding: 'utf8',
    });
    chmodSync(folder, 0o755);
    return stdout;
  };

  it('accepts a complete set-up, even if the times of files differ', (context) => {
    requireOrdinaryUser(context);
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify(lock));
    expect(packagesReady(folder, true)).toBe(true);
    utimesSync(join(folder, 'package-lock.json'), new Date(), new Date(1000));
    expect(setUp()).toBe('true\n');
  });

  it('names the user who can set it up', (context) => {
    requireOrdinaryUser(context);
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    expect(setUp()).toBe(
      `Cannot set up the checkout: this user may not write to it (EACCES), got ${folder}. Have its owner run the same command once, or work in a copy of your own.\n`,
    );
  });
});
