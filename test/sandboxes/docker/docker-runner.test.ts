import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createDockerRunner, type DockerRunnerOptions } from '../../../src/sandboxes/docker/docker-runner.ts';
import type { SandboxSpec } from '../../../src/sandboxes/runner.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';

const LIMITS = { memoryMib: 300, cpus: 1, pids: 50, workspaceMib: 40, workspaceInodes: 2_000 };
const nowhere = { host: 'unix:///nowhere/engine.sock' };
const { signal } = new AbortController();

it.each<[SandboxSpec['isolation'], DockerRunnerOptions, string]>([
  ['container', nowhere, 'engine.unavailable'],
  ['kernel', nowhere, 'runner.isolation-unmet'],
  ['kernel', { ...nowhere, kernelRuntime: 'runsc' }, 'engine.unavailable'],
  ['namespace', { ...nowhere, kernelRuntime: 'runsc' }, 'runner.isolation-unmet'],
  ['none', { ...nowhere, kernelRuntime: 'runsc' }, 'runner.isolation-unmet'],
])('level %s with %j asks the engine only if the runner has the level', async (isolation, options, code) => {
  await using runner = createDockerRunner(options);
  await expect(runner.start({ isolation, language: 'python', limits: LIMITS }, { signal })).rejects.toMatchObject({
    code,
  });
});

/** The engine over TCP. `passes` gets each piece of a client's bytes, and decides whether the engine gets it. */
async function engineBehind(
  passes: (piece: string, client: Socket) => boolean,
): Promise<AsyncDisposable & { host: string }> {
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    const engine = connect({ path: '/var/run/docker.sock' });
    engine.on('error', () => client.destroy()).pipe(client);
    client.on('error', () => client.destroy()).on('close', () => engine.destroy());
    client.on('data', (bytes) => void (passes(bytes.toString('latin1'), client) && engine.write(bytes)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it('only a missing kernel level is answered with the way to have one', async () => {
  await using runner = createDockerRunner(nowhere);
  const hintOf = async (isolation: SandboxSpec['isolation']): Promise<unknown> =>
    await runner.start({ isolation, language: 'python', limits: LIMITS }, { signal }).catch(({ hint }) => hint);
  expect(await hintOf('kernel')).toContain('SKILLCELL_KERNEL_RUNTIME');
  expect(await hintOf('none')).not.toContain('SKILLCELL_KERNEL_RUNTIME');
});

it('a sweep of a named engine that is missing is an error, and not skipped', async () => {
  await using runner = createDockerRunner(nowhere);
  await expect(runner.sweep()).rejects.toMatchObject({ code: 'engine.unavailable' });
});

dockerTest('a container is attached by an upgrade, so that a proxy passes on both directions', {}, async () => {
  const { bundle } = await dockerImage();
  let sent = '';
  await using engine = await engineBehind((piece) => (sent += piece) !== '');
  await using runner = createDockerRunner({ host: engine.host, bundle });
  const sandbox = await runner.start({ isolation: 'container', language: 'python', limits: LIMITS }, { signal });
  await sandbox.kill('the test is over');
  expect(/POST \S+\/attach[^]*?\r\n\r\n/.exec(sent)?.[0]).toContain('\r\nUpgrade: tcp\r\n');
});

dockerTest('a question that the engine leaves without an answer is taken back', {}, async () => {
  const { bundle } = await dockerImage();
  const ended: Promise<unknown>[] = [];
  await using engine = await engineBehind((piece, client) => {
    if (!/^GET \S*\/_ping/.test(piece)) return true;
    ended.push(once(client, 'close'));
    return false;
  });
  await using runner = createDockerRunner({ host: engine.host, bundle });
  await runner.reach?.({ signal, patienceMs: 10_000 });
  await expect(runner.reach?.({ signal, patienceMs: 500 })).rejects.toMatchObject({ code: 'engine.unavailable' });
  expect(ended).toHaveLength(1);
  await ended[0];
});
