import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { spawnCli } from '../fixtures/spawn-cli.ts';

let scene: string;
beforeEach(() => {
  scene = realpathSync(mkdtempSync(join(tmpdir(), 'long-looks-')));
  writeTree(scene, { 'skills/a/SKILL.md': '---\nname: a\ndescription: Is about a.\n---\nText.\n' });
});
afterEach(() => removeTree(scene));

/** A disk that takes 8 s once for the folder of a skill, while the process does nothing else. */
const SLOW_DISK = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { readdirSync } = fs;
let isSlow = true;
fs.readdirSync = (path, ...others) => {
  if (isSlow && String(path).includes('/skills/a')) {
    isSlow = false;
    fs.writeSync(2, 'begun');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8_000);
  }
  return readdirSync(path, ...others);
};
syncBuiltinESMExports();`;

describe('a command that looks through folders without a pause', () => {
  it.each([
    ['scan', 'SIGTERM'],
    ['validate', 'SIGINT'],
  ] as const)('is ended by a signal at once: skills %s, %s', async (name, signal) => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(SLOW_DISK)}`;
    const child = spawnCli(['skills', name, 'skills'], { cwd: scene, env: { NODE_OPTIONS } });
    await once(child.stderr ?? child, 'data');
    child.kill(signal);
    expect(await once(child, 'close')).toEqual([null, signal]);
  });
});
