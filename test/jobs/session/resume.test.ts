import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Session, SessionOptions } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { everyRunner, runnerOf } from '../../fixtures/every-level.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'session-resume-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const BEST: SessionOptions = { isolation: BEST_LEVEL, runner: runnerOf(BEST_LEVEL) };
const stateful = async (): Promise<Orchestrator> =>
  createOrchestrator({ runners: await everyRunner(), allowUnisolated: true, stateDir });
const kept = (): string[] => readdirSync(join(stateDir, 'sessions'));

/** Lets a session with these files end because it was idle. */
async function leaveIdle(orchestrator: Orchestrator, sessionId: string, files: Record<string, string>): Promise<void> {
  const session = await orchestrator.session({ ...BEST, sessionId, idleTimeoutMs: 300 });
  for (const [path, content] of Object.entries(files)) await session.files.write(path, content);
  await session.ended;
}

it('keeps the files in its output folder, which become artifacts of the next attempt as well', async () => {
  await using orchestrator = await stateful();
  await leaveIdle(orchestrator, 'outputs', { 'out/deep/report.md': '# Done', 'note.txt': 'n' });
  const session = await orchestrator.session({ ...BEST, resume: 'outputs' });
  expect(await session.files.read('out/deep/report.md', 'utf8')).toBe('# Done');
  const job = await session.close();
  expect(job.artifacts.map(({ path }) => path)).toEqual(['deep/report.md']);
  expect(await orchestrator.readArtifact(job, 'deep/report.md', 'utf8')).toBe('# Done');
});

it('refuses a file in place of its output folder', async () => {
  await using orchestrator = await stateful();
  await expect(orchestrator.session({ ...BEST, files: { out: 'x' } })).rejects.toMatchObject({ code: 'job.invalid' });
});

it.each<[string, Partial<SessionOptions>]>([
  ['it is canceled before', { signal: AbortSignal.abort(new Error('no longer needed')) }],
  ['its options are refused', { tools: ['there.is-not'] }],
  ['a file would be a folder as well', { files: { kept: 'a file' } }],
])('can be resumed again if a resume does not begin: %s', async (_name, options) => {
  await using orchestrator = await stateful();
  await leaveIdle(orchestrator, 'again', { 'kept/a.txt': 'kept' });
  await expect(orchestrator.session({ ...BEST, resume: 'again', ...options })).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:session\.ended|job\.invalid)$/) as unknown,
  });
  await until(() => existsSync(join(stateDir, 'sessions', 'again.tar')), 'the archive to be back');
  await using session = await orchestrator.session({ ...BEST, resume: 'again' });
  expect(await session.files.read('kept/a.txt', 'utf8')).toBe('kept');
});

it('is resumed by one of two concurrent callers, and its archive is gone when it is closed', async () => {
  await using orchestrator = await stateful();
  await using other = await stateful();
  await leaveIdle(orchestrator, 'one', { 'a.txt': 'a' });
  const settled = await Promise.allSettled(
    [orchestrator, other].map((asked) => asked.session({ ...BEST, resume: 'one' })),
  );
  const opened = settled.flatMap((each): Session[] => (each.status === 'fulfilled' ? [each.value] : []));
  const refused = settled.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused).toMatchObject([{ code: 'session.unknown' }]);
  expect(await opened[0]?.close()).toMatchObject({ attempt: 2, outcome: 'succeeded' });
  expect(kept()).toEqual([]);
});

it('can be resumed only when its session has a result, so that no two attempts have the same number', async () => {
  await using first = await stateful();
  await using second = await stateful();
  await leaveIdle(first, 'turns', { 'a.txt': 'a' });
  const attempts: number[] = [];
  let session = await first.session({ ...BEST, resume: 'turns', idleTimeoutMs: 200 });
  for (const orchestrator of [second, first, second]) {
    const { ended } = session;
    let next: Session | undefined;
    await until(async () => {
      next = await orchestrator.session({ ...BEST, resume: 'turns', idleTimeoutMs: 200 }).catch(() => undefined);
      return next !== undefined;
    }, 'the next resume');
    session = next ?? session;
    attempts.push((await ended).attempt);
  }
  await session.close();
  expect(attempts).toEqual([2, 3, 4]);
  expect(readdirSync(join(stateDir, 'results'))).toHaveLength(5);
});

it('keeps a resumed workspace anew, as its only archive', async () => {
  await using orchestrator = await stateful();
  await leaveIdle(orchestrator, 'twice', { 'a.txt': 'first' });
  const session = await orchestrator.session({ ...BEST, resume: 'twice', idleTimeoutMs: 300 });
  await session.files.write('a.txt', 'second');
  expect(await session.ended).toMatchObject({ attempt: 2 });
  expect(kept()).toEqual(['twice.tar']);
  await using last = await orchestrator.session({ ...BEST, resume: 'twice' });
  expect(await last.files.read('a.txt', 'utf8')).toBe('second');
});
