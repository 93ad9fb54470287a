import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openKeptWorkspaces, type KeptWorkspaces } from '../../../src/orchestrator/session/kept-workspaces.ts';
import { currentOwner, ownerName } from '../../../src/runners/owner.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'kept-workspaces-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

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
