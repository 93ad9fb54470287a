import { afterAll, expect, test } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { toolList } from '../../fixtures/tool-list.ts';

const heard: string[] = [];
let isAllowed = true;
const orchestrator = createOrchestrator({
  tools: toolList([
    ['look', { description: 'Reads.', effect: 'read', execute: async () => void heard.push('look') }],
    ['ask', { description: 'Asks first.', approval: 'always', execute: async () => void heard.push('ask') }],
    ['note', { description: 'Writes.', execute: async () => void heard.push('note') }],
  ]),
  approve: async () => {
    isAllowed = false;
    return { allow: true };
  },
});
afterAll(() => orchestrator.close());

const code = `import { callTool } from 'skillcell';
await callTool('look');
for (const time of [1, 2]) await callTool('note').then(() => console.log('noted'), ({ code }) => console.log(code));`;
const job: { kind: 'exec' } & ExecOptions = { kind: 'exec', code, tools: ['look', 'note'], isolation: 'namespace' };

test('a call that may change something waits for the host once, and a call that reads does not', async (context) => {
  requireLevel(context, 'namespace');
  heard.length = 0;
  const beforeChange = async (tool: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    heard.push(`before ${tool}`);
  };
  const { attempt, stdout } = await orchestrator.stream(job, { attempt: 2, beforeChange }).result;
  expect([attempt, stdout.text]).toEqual([2, 'noted\nnoted\n']);
  expect(heard).toEqual(['look', 'before note', 'note', 'note']);
});

test('no call begins while the host does not allow it', async (context) => {
  requireLevel(context, 'namespace');
  heard.length = 0;
  const quiet = {
    ...job,
    code: job.code.replace("await callTool('look');", "await callTool('look').catch(() => undefined);"),
  };
  const { stdout } = await orchestrator.stream(quiet, { mayCall: () => false }).result;
  expect([stdout.text, heard]).toEqual(['tool.job-over\ntool.job-over\n', []]);
});

test('a call waits until the host knows whether it may begin, or its job is canceled', async (context) => {
  requireLevel(context, 'namespace');
  heard.length = 0;
  const asked = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<boolean>();
  const mayCall = (): Promise<boolean> => {
    asked.resolve();
    return allowed.promise;
  };
  const waiting = orchestrator.stream(job, { mayCall });
  await asked.promise;
  const canceled = orchestrator.stream({ ...job, jobId: 'canceled' }, { mayCall: () => new Promise(() => undefined) });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(heard).toEqual([]);
  orchestrator.cancel('canceled');
  expect((await canceled.result).outcome).toBe('canceled');
  allowed.resolve(true);
  expect((await waiting.result).stdout.text).toBe('noted\nnoted\n');
  expect(heard).toEqual(['look', 'note', 'note']);
});

test('a call that waited for its approval does not begin when the host no longer allows it', async (context) => {
  requireLevel(context, 'namespace');
  heard.length = 0;
  const asking = { ...job, code: job.code.replaceAll("'note'", "'ask'"), tools: ['look', 'ask'] };
  const { stdout } = await orchestrator.stream(asking, { mayCall: () => isAllowed }).result;
  expect([stdout.text, heard]).toEqual(['tool.job-over\ntool.job-over\n', ['look']]);
});

test('no call changes anything if the host refuses', async (context) => {
  requireLevel(context, 'namespace');
  heard.length = 0;
  const beforeChange = (): Promise<void> => Promise.reject(new Error('not here'));
  const { stdout } = await orchestrator.stream(job, { beforeChange }).result;
  expect(stdout.text).toBe('tool.failed\ntool.failed\n');
  expect(heard).toEqual(['look']);
});
