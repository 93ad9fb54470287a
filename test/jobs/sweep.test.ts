import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { currentOwner, ownerName, type Owner } from '../../src/durable/owner.ts';
import { readFileSync } from 'node:fs';
import { LEVELS, requireLevel } from '../fixtures/levels.ts';
import { descendants, hostProcesses, sandboxLeftovers } from '../fixtures/sandbox-leftovers.ts';
import { until } from '../fixtures/until.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

const HOST = fileURLToPath(new URL('../fixtures/killed-host.ts', import.meta.url));
let hosts: ChildProcess[] = [];
beforeEach(() => {
  hosts = [];
});
afterEach(async () => {
  for (const host of hosts) host.kill('SIGKILL');
  await using orchestrator = createOrchestrator();
  await orchestrator.sweep();
});

interface Host {
  process: ChildProcess;
  pid: number;
  owner: string;
  /** Name of the job's processes. */
  daemon: string;
}

/** Starts a host in a process of its own and waits until its job's program and daemon are up. */
async function startHost(isolation: string, poolSize = 0): Promise<Host> {
  const daemon = `daemon-${Math.random().toString(36).slice(2)}`;
  const host = spawn(process.execPath, [HOST, isolation, daemon, String(poolSize)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  hosts.push(host);
  await once(host.stdout, 'data');
  const pid = host.pid as number;
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const startTime = fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  const owner: Owner = { ...currentOwner(), pid, startTime };
  await until(() => alive(daemon) === 2, 'the program and its daemon');
  return { process: host, pid, owner: ownerName(owner), daemon };
}

const alive = (name: string): number => hostProcesses().filter(({ command }) => command.startsWith(name)).length;

describe.each(LEVELS)('a host that is killed, at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('leaves no process of its sandboxes a second later, and sweep() removes the rest', async () => {
    const host = await startHost(isolation, 1);
    const family = new Set(descendants(host.pid).map(({ pid }) => pid));
    expect(family.size).toBeGreaterThan(3);
    const elapsedMs = startQuietClock();
    process.kill(host.pid, 'SIGKILL');
    await until(
      () => alive(host.daemon) === 0 && !hostProcesses().some(({ pid }) => family.has(pid)),
      'the end of all its processes',
    );
    expect(elapsedMs()).toBeLessThan(isolation === 'namespace' ? 1_000 : 3_000);
    const left = sandboxLeftovers(host.owner);
    expect(left.length).toBeGreaterThan(0);
    await using orchestrator = createOrchestrator();
    const report = await orchestrator.sweep();
    expect(report.failed).toEqual([]);
    expect(report.removed.filter(({ name }) => name.startsWith(host.owner) || name.includes(host.owner)).length).toBe(
      left.length,
    );
    expect(sandboxLeftovers(host.owner)).toEqual([]);
    expect((await orchestrator.sweep()).removed).toEqual([]);
  });

  it('leaves no process of its sandboxes if it was about to end them', async () => {
    const host = await startHost(isolation);
    const family = new Set(descendants(host.pid).map(({ pid }) => pid));
    const ended = once(host.process, 'exit');
    host.process.stdin?.write('end them\n');
    expect(await ended).toEqual([null, 'SIGKILL']);
    await until(
      () => alive(host.daemon) === 0 && !hostProcesses().some(({ pid }) => family.has(pid)),
      'the end of all its processes',
    );
  });

  it('M44 sweep() leaves a living host\u2019s job alone', async () => {
    const host = await startHost(isolation);
    const before = sandboxLeftovers(host.owner);
    expect(before.length).toBeGreaterThan(0);
    await using orchestrator = createOrchestrator();
    const own = orchestrator.exec({
      isolation,
      code: 'await new Promise((resolve) => setTimeout(resolve, 300)); export default 1;',
    });
    await until(() => sandboxLeftovers().length > 0, 'an own sandbox');
    const { removed, failed } = await orchestrator.sweep();
    expect({ removed, failed }).toEqual({ removed: [], failed: [] });
    expect((await own).value).toBe(1);
    expect(alive(host.daemon)).toBe(2);
    expect(sandboxLeftovers(host.owner)).toEqual(before);
  });
});

it('sweep() kills processes that a sandbox without its entry left running at level none', async (context) => {
  requireLevel(context, 'none');
  const host = await startHost('none');
  const entry = descendants(host.pid).find(({ command }) => command.includes('entry.cjs'));
  // The stopped host cannot clean up after its sandbox.
  process.kill(host.pid, 'SIGSTOP');
  if (entry === undefined) throw new Error('The host has no entry.');
  process.kill(entry.pid, 'SIGKILL');
  process.kill(host.pid, 'SIGKILL');
  await until(() => host.process.signalCode !== null, 'the end of the host');
  expect(alive(host.daemon)).toBe(2);
  await using orchestrator = createOrchestrator();
  const { removed } = await orchestrator.sweep();
  expect(removed.filter(({ kind }) => kind === 'process').length).toBeGreaterThanOrEqual(2);
  await until(() => alive(host.daemon) === 0, 'the end of the daemon');
});

it.for(LEVELS)('a host that closes normally at level %s leaves nothing to sweep', async (isolation, context) => {
  requireLevel(context, isolation);
  const orchestrator = createOrchestrator({ pool: { size: 2, isolation } });
  await orchestrator.warm();
  expect(sandboxLeftovers().length).toBeGreaterThan(0);
  await orchestrator.exec({ isolation, code: '1' });
  await orchestrator.close();
  expect(sandboxLeftovers()).toEqual([]);
});
