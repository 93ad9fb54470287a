import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import {
  controlGroupLayout,
  createControlGroup,
  listControlGroups,
} from '../../../src/sandboxes/local/control-group.ts';
import { localSandbox } from '../../../src/sandboxes/local/local-sandbox.ts';
import { startProcess } from '../../../src/sandboxes/local/start-process.ts';
import { requireHere } from '../../fixtures/describe-with.ts';
import { isAlive } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

test('localSandbox() reads why a start failed from the stderr of the programs around a sandbox', async () => {
  const child = spawn('/bin/sh', ['-c', 'echo no namespaces >&2'], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const sandbox = localSandbox({
    isolation: 'namespace',
    child,
    group: null,
    diagnostics: [],
    cleanUp: () => Promise.resolve(),
    startFailure: (complaint) => new SkillcellError('runner.isolation-unmet', complaint),
  });
  await until(() => sandbox.complaint() !== '', 'a text');
  expect(sandbox.startFailure?.()).toMatchObject({ code: 'runner.isolation-unmet', message: 'no namespaces' });
});

test('localSandbox() keeps the end of the stderr of the programs around a sandbox', async () => {
  const script = 'printf "%5000s" first >&2; sleep 0.1; printf last >&2';
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const cleanUp = (): Promise<void> => Promise.resolve();
  const sandbox = localSandbox({ isolation: 'none', child, group: null, diagnostics: [], cleanUp });
  await until(() => sandbox.complaint().endsWith('last'), 'the last text');
  expect(sandbox.complaint()).toBe(`${'first'.padStart(4_092)}last`);
});

test('localSandbox() ends the processes that outlive its first process, with their control group', async (context) => {
  requireHere(context, controlGroupLayout() === null ? 'control groups that this user may create' : undefined);
  const name = `test-${process.pid}-outlived`;
  const group = createControlGroup(name, DEFAULT_LIMITS);
  const script = 'setsid sleep 600 3<&- & echo $! >&2; exec cat <&3';
  const child = startProcess(['/bin/sh', '-c', script], { group, fileBytes: 1024, env: { PATH: '/usr/bin:/bin' } });
  const cleanUp = (): Promise<void> => Promise.resolve();
  const sandbox = localSandbox({ isolation: 'none', child, group, diagnostics: [], cleanUp });
  await until(() => /^\d+\n$/.test(sandbox.complaint()), 'the second process');
  await sandbox.kill('the end of the test');
  expect(isAlive(Number(sandbox.complaint()))).toBe(false);
  expect(listControlGroups()).not.toContain(name);
});

test('localSandbox() adds no listener each time that it is killed', async () => {
  const child = spawn('/bin/sleep', ['600'], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const cleanUp = (): Promise<void> => Promise.resolve();
  const sandbox = localSandbox({ isolation: 'namespace', child, group: null, diagnostics: [], cleanUp });
  await sandbox.kill('the first time');
  const listeners = sandbox.channel.listenerCount('connect');
  for (let time = 0; time < 3; time += 1) await sandbox.kill('again');
  expect(sandbox.channel.listenerCount('connect')).toBe(listeners);
});
