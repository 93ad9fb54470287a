import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openKeptWorkspaces, type KeptWorkspaces } from '../../../src/orchestrator/session/kept-workspaces.ts';
import { currentOwner, ownerName } from '../../../src/runners/owner.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'kept-workspaces-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const MODULE = new URL('../../../src/orchestrator/session/kept-workspaces.ts', import.meta.url).href;
const execute = promisify(execFile);
const DEAD = ownerName({ ...currentOwner(), startTime: '1' });
const names = (): string[] => readdirSync(join(stateDir, 'sessions')).toSorted();
/** As if the owner of all that is claimed had died. */
const bury = (): void => {
  for (const name of names().filter((found) => !found.endsWith('.tar'))) {
    const dead = name.replace(ownerName(currentOwner()), DEAD);
    renameSync(join(stateDir, 'sessions', name), join(stateDir, 'sessions', dead));
  }
};
const keep = (kept: KeptWorkspaces, id: string, text: string): void => kept.keep(id, Buffer.from(text)).publish();
const UNKNOWN = { code: 'session.unknown' };

it('knows none where nothing was ever kept', () => {
  expect(() => openKeptWorkspaces(stateDir).claim('a')).toThrow(expect.objectContaining(UNKNOWN));
});

it('gives an archive to one at a time', () => {
  const [kept, others] = [openKeptWorkspaces(stateDir), openKeptWorkspaces(stateDir)];
  const unpublished = kept.keep('a', Buffer.from('1'));
  expect(() => others.claim('a')).toThrow(expect.objectContaining(UNKNOWN));
  unpublished.publish();
  keep(kept, 'ab', '2');
  const claim = kept.claim('a');
  expect(() => others.claim('a')).toThrow(expect.objectContaining(UNKNOWN));
  expect(others.claim('ab').read().toString()).toBe('2');
  claim.release();
  const next = others.claim('a');
  expect(next.read().toString()).toBe('1');
  next.drop();
  next.release();
  expect(() => kept.claim('a')).toThrow(expect.objectContaining(UNKNOWN));
});

it('gives what a dead owner had claimed', () => {
  const kept = openKeptWorkspaces(stateDir);
  keep(kept, 'a', '1');
  kept.claim('a');
  bury();
  expect(kept.claim('a').read().toString()).toBe('1');
  expect(() => kept.claim('a')).toThrow(expect.objectContaining(UNKNOWN));
});

it('takes what a dead owner had kept and not published, and not what it went on with', async () => {
  const kept = openKeptWorkspaces(stateDir);
  keep(kept, 'a', '1');
  kept.claim('a');
  // The clock of the files has steps of some milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 20));
  kept.keep('a', Buffer.from('2'));
  bury();
  expect(kept.claim('a').read().toString()).toBe('2');
  expect(names()).toHaveLength(1);
});

it('gives the older of two to nobody while another takes the newer one', async () => {
  const kept = openKeptWorkspaces(stateDir);
  const ids = Array.from({ length: 60 }, (_, at) => `at${at}-`);
  for (const id of ids) {
    keep(kept, id, '1');
    kept.claim(id);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const id of ids) kept.keep(id, Buffer.from('2'));
  bury();
  // Both ask for each at the same moment.
  const code = `const { openKeptWorkspaces } = await import(${JSON.stringify(MODULE)});
    const kept = openKeptWorkspaces(${JSON.stringify(stateDir)});
    for (const [at, id] of ${JSON.stringify(ids)}.entries()) {
      while (Date.now() < ${Date.now() + 1_500} + at * 10);
      try { console.log(kept.claim(id).read().toString()); } catch (error) { console.log(error.code); }
    }`;
  const ask = async (): Promise<string[]> =>
    (await execute(process.execPath, ['--input-type=module', '-e', code])).stdout.trim().split('\n');
  const [first, second] = await Promise.all([ask(), ask()]);
  const pairs = ids.map((_, at) => new Set([first[at], second[at]]));
  expect(pairs).toEqual(ids.map(() => new Set(['2', 'session.unknown'])));
});

it('takes the newer one where a dead owner had kept it anew, and puts no older one in its place', () => {
  const kept = openKeptWorkspaces(stateDir);
  keep(kept, 'a', '1');
  kept.claim('a');
  keep(kept, 'a', '2');
  bury();
  const claim = kept.claim('a');
  expect(claim.read().toString()).toBe('2');
  expect(names()).toHaveLength(1);
  keep(kept, 'a', '3');
  claim.release();
  expect(names()).toEqual(['a.tar']);
  expect(kept.claim('a').read().toString()).toBe('3');
});
