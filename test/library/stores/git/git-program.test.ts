import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findGit } from '../../../../src/library/stores/git/git-program.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-program-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A fake git with this version text. */
function install(says: string, into: string = folder): string {
  const path = join(into, 'git');
  writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('git store: the program', () => {
  it.each([
    'git version 2.37.0',
    'git version 2.39.5 (Apple Git-154)',
    'git version 2.100.1.windows.1',
    'git version 3.0.0',
  ])('accepts %s', async (says) => {
    const path = install(says);
    expect(await findGit(`relative:${folder}`)).toBe(path);
  });

  it.each(['git version 2.36.9', 'git version 1.99.0', 'git, some other one', ''])('refuses %j', async (says) => {
    install(says);
    await expect(findGit(folder)).rejects.toMatchObject({
      code: 'store.unavailable',
      message: `Cannot use git: version 2.37 or newer is needed, got ${JSON.stringify(says)}.`,
    });
    // A replaced program is checked again.
    const path = install('git version 2.45.1');
    expect(await findGit(folder)).toBe(path);
  });

  it('ignores folders, files that are not executable, and relative paths', async () => {
    const names = ['folder', 'text', 'last'];
    const [first = '', second = '', last = ''] = names.map((name) => join(folder, name));
    for (const path of [join(first, 'git'), second, last]) mkdirSync(path, { recursive: true });
    writeFileSync(join(second, 'git'), '');
    const path = install('git version 2.45.1', last);
    expect(await findGit(`${first}:${second}:${last}`)).toBe(path);
    await expect(findGit(relative(process.cwd(), last))).rejects.toThrow('it is not installed');
  });

  it('refuses a program that prints more than a version', async () => {
    install(`git version 2.45.1${' and more'.repeat(200)}`);
    await expect(findGit(folder)).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('names the searched path where git is missing', async () => {
    await expect(findGit(folder)).rejects.toMatchObject({
      code: 'store.unavailable',
      message: `Cannot use git: it is not installed, got ${JSON.stringify(folder)}.`,
    });
  });
});
