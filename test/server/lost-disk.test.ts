import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { describeWith } from '../fixtures/describe-with.ts';
import { startService } from '../fixtures/service.ts';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-disk-'));
  folders.push(folder);
  return folder;
}

describeWith('a service whose disk is full', process.geteuid?.() === 0 ? undefined : 'root, to mount a disk', () => {
  let disk: string | undefined;
  afterEach(() => {
    if (disk !== undefined) execFileSync('umount', ['--lazy', disk]);
  });

  it(
    'refuses a job and ends a running one with a code, and goes on when there is room',
    { timeout: 120_000 },
    async () => {
      const folder = makeFolder();
      await using scene = await startService({ folder });
      disk = join(folder, 'jobs');
      // Only the files of jobs are on the full disk: the database has another one.
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
      await using other = await restarted();
      const writes =
        "for (;;) { process.stdout.write('x'.repeat(65536)); await new Promise((r) => setTimeout(r, 5)); }";
      const running = await other.call('/jobs', {
        body: { kind: 'exec', code: writes },
        headers: { prefer: 'wait=60' },
      });
      expect(running.json).toMatchObject({ outcome: 'failed', error: { name: 'disk.full' } });
      const file = { kind: 'exec', code: '1', files: { 'a.txt': 'x'.repeat(600_000) } };
      const refused = await other.call('/jobs', { body: file });
      expect(refused.json).toMatchObject({ code: 'disk.full', hint: expect.stringContaining('disk') });
      expect(refused.text).not.toContain(folder);
      expect((await other.call(`/jobs/${running.json.jobId}`, { method: 'DELETE' })).status).toBe(204);
      expect((await other.call('/jobs', { body: file, headers: { prefer: 'wait=60' } })).json.outcome).toBe(
        'succeeded',
      );

      /** The service opens the folder of jobs at its start. */
      async function restarted(): ReturnType<typeof startService> {
        await scene.service.close(0);
        return await startService({ folder });
      }
    },
  );
});

it('a service whose state folder is gone is not ready, and refuses jobs', async () => {
  const folder = makeFolder();
  await using scene = await startService({ folder });
  const ready = async (): Promise<number> => (await scene.call('/readyz', { token: null })).status;
  expect(await ready()).toBe(200);
  renameSync(join(folder, 'jobs'), join(folder, 'gone'));
  const refused = await scene.call('/jobs', { body: { kind: 'exec', code: '1' } });
  expect([refused.status, refused.json.code]).toEqual([503, 'service.unavailable']);
  expect(refused.json.hint).toContain('state folder');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await ready()).toBe(503);
  renameSync(join(folder, 'gone'), join(folder, 'jobs'));
  expect(await ready()).toBe(200);
  const answer = await scene.call('/jobs', { body: { kind: 'exec', code: '1' }, headers: { prefer: 'wait=60' } });
  expect(answer.json.outcome).toBe('succeeded');
});
