import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { examineEngine } from '../../../src/cli/doctor/examine-engine.ts';
import { checkEngine } from '../../../src/sandboxes/docker/engine/check-engine.ts';
import { abortable, connectEngine } from '../../../src/sandboxes/docker/engine/engine.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';

/** The info of an engine with all abilities. The other kinds below cannot all be started on one machine. */
const ACCOUNT = {
  KernelVersion: '6.1.0-x',
  NCPU: 4,
  OSType: 'linux',
  ServerVersion: '28.0.0',
  SecurityOptions: ['name=apparmor', 'name=seccomp,profile=builtin', 'name=cgroupns'],
  MemoryLimit: true,
  PidsLimit: true,
  CpuCfsQuota: true,
  CgroupVersion: '2',
  RuncCommit: { ID: 'v1.2.8' },
  Runtimes: { runc: {}, runsc: {} },
};

let server: Server | undefined;
afterEach(() => server?.close());

/** The address of a server that answers the info call with this account. */
async function engineWith(account: Record<string, unknown>): Promise<string> {
  server = createServer((request, response) => {
    const known = request.url?.endsWith('/info') ? account : request.url?.endsWith('/version') ? {} : [];
    response.setHeader('content-type', 'application/json').end(JSON.stringify(known));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('checkEngine()', () => {
  it('reports version and abilities of an engine', async () => {
    const engine = await connectEngine({ host: await engineWith(ACCOUNT) });
    expect(await checkEngine(engine)).toEqual({
      version: '28.0.0',
      runcVersion: 'v1.2.8',
      cgroupVersion: '2',
      appArmor: true,
      rootless: false,
      runtimes: ['runc', 'runsc'],
      kernel: '6.1.0-x',
      processors: 4,
    });
  });

  it('reports a rootless engine, an engine without AppArmor, and an old engine', async () => {
    const rootless = {
      ...ACCOUNT,
      SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless', 'name=cgroupns'],
    };
    expect(await checkEngine(await connectEngine({ host: await engineWith(rootless) }))).toMatchObject({
      rootless: true,
      appArmor: false,
    });
    server?.close();
    const {
      CgroupVersion: _version,
      RuncCommit: _commit,
      Runtimes: _runtimes,
      KernelVersion: _kernel,
      NCPU: _processors,
      ...old
    } = ACCOUNT;
    expect(await checkEngine(await connectEngine({ host: await engineWith(old) }))).toMatchObject({
      cgroupVersion: '1',
      runcVersion: undefined,
      runtimes: [],
      kernel: '',
      processors: Number.POSITIVE_INFINITY,
    });
  });

  it.each([
    ['Windows', { OSType: 'windows' }, 'it runs windows, not Linux'],
    ['no seccomp', { SecurityOptions: ['name=apparmor'] }, 'it has no seccomp'],
    ['no security options at all', { SecurityOptions: null }, 'it has no seccomp'],
    ['no memory limit', { MemoryLimit: false }, 'it cannot limit memory'],
    // A rootless engine with version 1 of control groups, or without delegated controllers.
    ['no limit of processes', { PidsLimit: false }, 'it cannot limit processes'],
    ['no limit of processors', { CpuCfsQuota: false }, 'it cannot limit processors'],
  ])('refuses an engine with %s', async (_name, lacking, reason) => {
    const engine = await connectEngine({ host: await engineWith({ ...ACCOUNT, ...lacking }) });
    await expect(checkEngine(engine)).rejects.toMatchObject({
      code: 'runner.isolation-unmet',
      message: expect.stringContaining(reason) as string,
      hint: expect.stringContaining('a rootless engine needs') as string,
    });
  });

  dockerTest('agrees with the engine of this machine', {}, async () => {
    const { engine, report } = await dockerImage();
    const info = (await abortable(engine).info({ abortSignal: AbortSignal.timeout(5_000) })) as Record<string, unknown>;
    expect(report.version).toBe(info['ServerVersion']);
    expect(report.cgroupVersion).toBe(info['CgroupVersion']);
    expect(report.rootless).toBe(false);
  });
});

describe('doctor', () => {
  it('reports a rootless engine', async () => {
    const host = await engineWith({ ...ACCOUNT, SecurityOptions: ['name=seccomp', 'name=rootless'] });
    const [engine] = await examineEngine({ env: { DOCKER_HOST: host } });
    expect(engine).toMatchObject({
      id: 'docker',
      ok: true,
      found: 'engine 28.0.0 · control groups version 2 · no AppArmor · rootless · runtimes runc, runsc',
    });
  });

  it('reports an engine that cannot limit processes', async () => {
    const host = await engineWith({ ...ACCOUNT, PidsLimit: false });
    expect(await examineEngine({ env: { DOCKER_HOST: host } })).toMatchObject([
      { id: 'docker', ok: false, found: 'Cannot use the Docker engine: it cannot limit processes.' },
    ]);
  });
});
