import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionOptions } from '../../../src/contracts/session.ts';
import { createOrchestrator } from '../../../src/orchestrator/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'session-resume-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

const LOCAL: SessionOptions = { isolation: BEST_LEVEL, runner: 'local' };
const stateful = (): Orchestrator => createOrchestrator({ allowUnisolated: true, stateDir });

/** A session that did nothing for its time, with these files. */
async function leaveIdle(orchestrator: Orchestrator, sessionId: string, files: Record<string, string>): Promise<void> {
  const session = await orchestrator.session({ ...LOCAL, sessionId, idleTimeoutMs: 300 });
  for (const [path, content] of Object.entries(files)) await session.files.write(path, content);
  await session.ended;
}

it('goes on with what lies in its output folder, which then becomes artifacts of this attempt as well', async () => {
  await using orchestrator = stateful();
  await leaveIdle(orchestrator, 'outputs', { 'out/deep/report.md': '# Done', 'note.txt': 'n' });
  const session = await orchestrator.session({ ...LOCAL, resume: 'outputs' });
  expect(await session.files.read('out/deep/report.md', 'utf8')).toBe('# Done');
  const job = await session.close();
  expect(job.artifacts.map(({ path }) => path)).toEqual(['deep/report.md']);
  expect(await orchestrator.readArtifact(job, 'deep/report.md', 'utf8')).toBe('# Done');
});

it('takes no file in place of its output folder', async () => {
  await using orchestrator = stateful();
  await expect(orchestrator.session({ ...LOCAL, files: { out: 'x' } })).rejects.toMatchObject({ code: 'job.invalid' });
});
