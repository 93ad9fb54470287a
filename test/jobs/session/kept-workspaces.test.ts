import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openKeptWorkspaces, type KeptWorkspaces } from '../../../src/jobs/session/kept-workspaces.ts';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'kept-workspaces-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const MODULE = new URL('../../../src/jobs/session/kept-workspaces.ts', import.meta.url).href;
const DEAD = ownerName({ ...currentOwner(), startTime: '1' });
const names = (): string[] => readdirSync(join(stateDir, 'sessions')).toSorted();
/** Pretends that the owner of all claimed archives has died. */
const bury = (): void => {
  for (const name of names().filter((found) => !found.endsWith('.tar'))) {
    const dead = name.replace(ownerName(currentOwner()), DEAD);
    renameSync(join(stateDir, 'sessions', name), join(stateDir, 'sessions', dead));
  }
};
const keep = (kept: KeptWorkspaces, id: string, text: string): void => kept.keep(id, Buffer.from(text)).publish();
const UNKNOWN = { code: 'session.unknown' };

it('rejects an unknown session in an empty state folder', () => {
  expect(() => openKeptWorkspaces(stateDir).claim('a')).toThrow(expect.objectContaining(UNKNOWN));
});

it('gives an archive to one session at a time', () => {
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

it('gives the archive that a dead owner had claimed', () => {
  const kept = openKeptWorkspaces(stateDir);
  keep(kept, 'a', '1');
  kept.claim('a');
  bury();
  expect(kept.claim('a').read().toString()).toBe('1');
  expect(() => kept.claim('a')).toThrow(expect.objectContaining(UNKNOWN));
});

it('takes the unpublished archive of a dead owner, and not the archive that it resumed', async () => {
  const kept = openKeptWorkspaces(stateDir);
  keep(kept, 'a', '1');
  kept.claim('a');
  // File times have a resolution of a few milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 20));
  kept.keep('a', Buffer.from('2'));
  bury();
  expect(kept.claim('a').read().toString()).toBe('2');
  expect(names()).toHaveLength(1);
});

it('never gives the older of two archives while another process takes the newer one', async () => {
  const kept = openKeptWorkspaces(stateDir);
  const ids = Array.from({ length: 60 }, (_, at) => `at${at}-`);
  for (const id of ids) {
    keep(kept, id, '1');
    kept.claim(id);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const id of ids) kept.keep(id, Buffer.from('2'));
  bury();
  // Both processes claim each archive at the same moment.
  const code = `const { openKeptWorkspaces } = await import(${JSON.stringify(MODULE)});
    const kept = openKeptWorkspaces(${JSON.stringify(stateDir)});
    const ask = (id) => { try { return kept.claim(id).read().toString(); } catch (error) { return error.code; } };
    const answers = ${JSON.stringify(ids)}.map((id, at) => {
      while (Date.now() < ${Date.now() + 1_500} + at * 10);
      return ask(id);
    });
    console.log(JSON.stringify(answers));
    process.stdin.resume();`;
  const processes = [0, 1].map(() =>
    spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const [first, second] = await Promise.all(
    processes.map(async ({ stdout }) => {
      const [line] = (await once(createInterface(stdout), 'line')) as [string];
      return JSON.parse(line) as string[];
    }),
  );
  // Only now may they end: the claims of an ended process are free for the other.
  for (const { stdin } of processes) stdin.end();
  const pairs = ids.map((_, at) => new Set([first![at], second![at]]));
  expect(pairs).toEqual(ids.map(() => new Set(['2', 'session.unknown'])));
});

it('takes the newer archive that a dead owner had kept anew, and never replaces it by an older one', () => {
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
