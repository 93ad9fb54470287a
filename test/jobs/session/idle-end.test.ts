import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import type { Session } from '../../../src/contracts/jobs/session.ts';
import type { JobHost } from '../../../src/jobs/run/job-host.ts';
import { createJobQueue } from '../../../src/jobs/supply/job-queue.ts';
import { createHostSession } from '../../../src/jobs/session/host-session.ts';
import { openKeptWorkspaces } from '../../../src/jobs/session/kept-workspaces.ts';
import type { RunGround, SandboxRuns } from '../../../src/jobs/run/run-ground.ts';
import { NO_SPAN } from '../../../src/jobs/tracing/trace-span.ts';
import type { StreamReader } from '../../../src/protocol/channel/channel.ts';
import type { HostMessage } from '../../../src/protocol/messages/messages.ts';
import { until } from '../../fixtures/until.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'session-idle-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

/** A session whose sandbox is played by the test: a real sandbox cannot be paused between two messages. */
function playSandbox(): { session: Session; runs: SandboxRuns; sent: HostMessage[]; exported(): void } {
  const sent: HostMessage[] = [];
  const readers = new Map<number, StreamReader>();
  const tracing = { begin: () => NO_SPAN };
  const host = { settings: { ceilings: {} }, queue: createJobQueue(1, 0), tracing } as unknown as JobHost;
  const kept = openKeptWorkspaces(stateDir);
  const made = createHostSession({ id: 'played', host, options: { idleTimeoutMs: 50 }, kept, claim: undefined });
  const channel = {
    send: (message: HostMessage) => void sent.push(message),
    receive: (stream: number, reader: StreamReader) => void readers.set(stream, reader),
  };
  const ground = {
    job: { jobId: 'played', language: 'javascript', limits: DEFAULT_LIMITS, request: {}, tools: new Map() },
    sandbox: { channel, sandbox: { runner: 'local', isolation: 'none' } },
    ending: {
      canceledFor: undefined,
      signal: new AbortController().signal,
      cancel: () => undefined,
      setClock: () => undefined,
      awaitEnd: () => undefined,
    },
    span: NO_SPAN,
    traffic: {},
  };
  made.runs.begin(ground as unknown as RunGround);
  made.runs.message({ type: 'skills', skills: { active: [], instructionSha256: null, modules: [] } as never });
  const exported = (): void => {
    const asked = sent.findLast((message) => message.type === 'files');
    made.runs.message({ type: 'files', id: asked?.id ?? 0, stream: 7 });
    readers.get(7)?.end();
    made.runs.message({ type: 'filed', id: asked?.id ?? 0 });
  };
  return { session: made.face(new Promise(() => undefined)), runs: made.runs, sent, exported };
}

const count = (sent: HostMessage[], type: HostMessage['type']): number =>
  sent.filter((message) => message.type === type).length;
const isKept = (): boolean =>
  readdirSync(stateDir, { recursive: true }).some((name) => `${name}`.includes('played.tar'));

it('keeps the workspace of an idle session, and ends the session', async () => {
  const { sent, exported } = playSandbox();
  await until(() => count(sent, 'files') === 1, 'the export');
  expect(count(sent, 'end')).toBe(0);
  exported();
  await until(() => count(sent, 'end') === 1, 'the end');
  expect(isKept()).toBe(true);
});

it('goes on if a run arrives while its workspace is packed, and ends later', async () => {
  const { session, runs, sent, exported } = playSandbox();
  await until(() => count(sent, 'files') === 1, 'the export');
  const run = session.run('1');
  await until(() => count(sent, 'cell') === 1, 'the run');
  exported();
  // Longer than the work for the export takes.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect({ ends: count(sent, 'end'), interrupts: count(sent, 'interrupt'), kept: isKept() }).toEqual({
    ends: 0,
    interrupts: 0,
    kept: false,
  });
  runs.end(undefined);
  expect((await run).run).toBe(1);
});

it('restarts its idle clock if a run came and ended while its workspace was packed', async () => {
  const { session, sent, exported } = playSandbox();
  await until(() => count(sent, 'files') === 1, 'the export');
  // The aborted run passes through the line of waiting runs before it is given up.
  expect(await session.run('1', { signal: AbortSignal.abort() })).toMatchObject({ outcome: 'canceled' });
  exported();
  await until(() => count(sent, 'files') === 2, 'the next export');
  expect(count(sent, 'end')).toBe(0);
  exported();
  await until(() => count(sent, 'end') === 1, 'the end');
});
