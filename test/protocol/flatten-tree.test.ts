import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { flattenTree } from '../../src/protocol/files/flatten-tree.ts';

const MODULE = new URL('../../src/protocol/files/flatten-tree.ts', import.meta.url).href;
let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'flatten-tree-'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const NAME = 'n'.repeat(200);
const longest = (folder: string): number =>
  Math.max(...readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path)).length));

it('moves deep folders to the top, and avoids existing names', () => {
  for (const name of ['1', '2']) writeFileSync(join(top, name), '');
  const script = `for step in {1..40}; do mkdir ${NAME} && cd -P ./${NAME} || exit 9; done; echo deepest >file`;
  expect(spawnSync('/bin/bash', ['-c', script], { cwd: top }).status).toBe(0);
  const steps = [...flattenTree(top)].length;
  expect(steps).toBe(41);
  expect(longest(top)).toBeLessThan(1_000);
  const files = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name).toSorted()).toEqual(['1', '2', 'file']);
});

it('opens closed folders, follows no link, and ignores a missing folder', () => {
  mkdirSync(join(top, 'a', 'b'), { recursive: true });
  mkdirSync(join(top, 'other'), { mode: 0o500 });
  symlinkSync(join(top, 'other'), join(top, 'a', 'link'));
  chmodSync(join(top, 'a', 'b'), 0);
  expect([...flattenTree(join(top, 'a'))]).toHaveLength(2);
  const modeOf = (name: string): string =>
    spawnSync('stat', ['-c', '%a', join(top, name)])
      .stdout.toString()
      .trim();
  expect([modeOf('a/b'), modeOf('other')]).toEqual(['755', '500']);
  expect([...flattenTree(join(top, 'missing'))]).toHaveLength(1);
});

it('throws any other error of reading a folder', () => {
  const code = `const { flattenTree } = await import(${JSON.stringify(MODULE)});
    const { openSync } = await import('node:fs');
    try { for (;;) openSync('/dev/null'); } catch {}
    try { console.log([...flattenTree('.')].length); } catch (error) { console.log(error.code); }`;
  const words = ['ulimit -n 64; exec "$@"', 'bash', process.execPath, '--input-type=module', '-e', code];
  expect(spawnSync('/bin/bash', ['-c', ...words], { cwd: top }).stdout.toString()).toBe('EMFILE\n');
});
