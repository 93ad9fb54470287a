import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';
import type { SweepReport } from '../../../src/sandboxes/runner.ts';
import { sweepLocal } from '../../../src/sandboxes/local/sweep-local.ts';
import { WORK_FOLDER_PREFIX } from '../../../src/sandboxes/local/start-direct.ts';

const dead = ownerName({ ...currentOwner(), startTime: '1' });
let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'sweep-local-'));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

function leaveFolder(name: string): void {
  const folder = join(temporary, name, 'workspace', 'out');
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < 20; index += 1) writeFileSync(join(folder, `${index}`), '');
}

/** The report of a sweep on the folders here. The sweep also covers processes and groups of the whole machine. */
async function sweepFolders(): Promise<SweepReport> {
  const { removed, failed } = await sweepLocal();
  const isHere = ({ name }: { name: string }): boolean => name.includes(dead);
  return { removed: removed.filter(isHere), failed: failed.filter(isHere) };
}

it('F06 removes the folders of dead owners, and keeps folders of a living owner or without an owner', async () => {
  const kept = [`${WORK_FOLDER_PREFIX}${ownerName(currentOwner())}-a`, `${WORK_FOLDER_PREFIX}notes`, 'other'];
  for (const name of [...kept, `${WORK_FOLDER_PREFIX}${dead}-a`]) leaveFolder(name);
  const { removed, failed } = await sweepFolders();
  expect(failed).toEqual([]);
  expect(removed).toContainEqual({ kind: 'folder', name: `${WORK_FOLDER_PREFIX}${dead}-a` });
  expect(readdirSync(temporary).toSorted()).toEqual(kept.toSorted());
});

it('removes folders that are too deep for a path', async () => {
  const name = `${WORK_FOLDER_PREFIX}${dead}-deep`;
  leaveFolder(name);
  const step = 'n'.repeat(200);
  const made = spawnSync(
    '/bin/bash',
    ['-c', `for step in {1..40}; do mkdir ${step} && cd -P ./${step} || exit; done`],
    {
      cwd: join(temporary, name, 'workspace'),
    },
  );
  expect(made.status).toBe(0);
  expect(await sweepFolders()).toEqual({ removed: [{ kind: 'folder', name }], failed: [] });
  expect(readdirSync(temporary)).toEqual([]);
});

/** Expects that the only entry is kept, for this reason. */
async function expectLeft(reason: string): Promise<void> {
  const { removed, failed } = await sweepFolders();
  expect(removed).toEqual([]);
  expect(failed.map((row) => row.reason)).toEqual([reason]);
  expect(readdirSync(temporary)).toHaveLength(1);
}

it('keeps and reports a folder of another user', async (context) => {
  context.skip(process.getuid?.() !== 0, 'only root can give a folder to another user');
  leaveFolder(`${WORK_FOLDER_PREFIX}${dead}-other`);
  chownSync(join(temporary, `${WORK_FOLDER_PREFIX}${dead}-other`), 65_534, 65_534);
  await expectLeft('Error: it belongs to another user');
});

it('keeps and reports a link', async () => {
  symlinkSync(tmpdir(), join(temporary, `${WORK_FOLDER_PREFIX}${dead}-link`));
  await expectLeft('Error: it is not a folder');
});

it('tolerates concurrent sweeps', async () => {
  for (let index = 0; index < 60; index += 1) leaveFolder(`${WORK_FOLDER_PREFIX}${dead}-${index}`);
  const reports = await Promise.all([sweepLocal(), sweepLocal(), sweepLocal()]);
  expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
});

it('stops at an abort', async () => {
  leaveFolder(`${WORK_FOLDER_PREFIX}${dead}-a`);
  expect((await sweepLocal(AbortSignal.abort())).removed).toEqual([]);
  expect(readdirSync(temporary)).toHaveLength(1);
});
