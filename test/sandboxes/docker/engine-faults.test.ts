import { createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import type { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { demultiplex } from '../../../src/sandboxes/docker/engine/demultiplex.ts';
import { connectEngine } from '../../../src/sandboxes/docker/engine/engine.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';
import { changedEngine, engineByTcp, silentEngine, type AnswerChange } from '../../fixtures/engine-proxy.ts';
import { listOwnContainers, ownContainers } from '../../fixtures/own-containers.ts';
import { until } from '../../fixtures/until.ts';
import { startQuietClock } from '../../fixtures/quiet-clock.ts';

/** The command line promises an answer within ten seconds. */
const MOST_MS = 10_000;

/** Runs one job at the engine of this address, and returns its result or error, and its duration. */
async function jobAt(host: string): Promise<{ result?: JobResult; error?: SkillcellError; tookMs: number }> {
  const { bundle } = await dockerImage();
  await using orchestrator = createOrchestrator({ runners: [createDockerRunner({ host, bundle })] });
  const elapsedMs = startQuietClock();
  try {
    const result = await orchestrator.exec({ language: 'bash', isolation: 'container', code: 'echo ran' });
    return { result, tookMs: elapsedMs() };
  } catch (error) {
    return { error: error as SkillcellError, tookMs: elapsedMs() };
  }
}

function fault(name: string, change: AnswerChange, code: string): void {
  dockerTest(`F11 one clear error within ten seconds: ${name}`, {}, async () => {
    await using engine = await changedEngine(change);
    const { error, tookMs } = await jobAt(engine.host);
    expect(error?.code).toBe(code);
    expect(error?.message).toMatch(/^Cannot [^\n]{10,700}$/);
    expect(error?.hint).not.toBe('');
    expect(tookMs).toBeLessThan(MOST_MS);
    await until(async () => (await ownContainers()).length === 0, 'nothing to be left', 20_000);
  });
}

describe('a faulty engine', () => {
  dockerTest('runs jobs if the proxy changes no answer', {}, async () => {
    await using engine = await changedEngine(() => undefined);
    const { result, error } = await jobAt(engine.host);
    expect(error).toBeUndefined();
    expect(result).toMatchObject({ outcome: 'succeeded', isolation: 'container', stdout: { text: 'ran\n' } });
    expect(engine.paths.filter((path) => path.startsWith('POST /containers/create'))).toHaveLength(1);
  });

  dockerTest('F11 one clear error within ten seconds: it accepts the connection and is silent', {}, async () => {
    await using engine = await silentEngine();
    const { error, tookMs } = await jobAt(engine.host);
    expect(error?.code).toBe('engine.unavailable');
    expect(tookMs).toBeLessThan(MOST_MS);
  });

  dockerTest('F11 one clear error at once: the connection is refused', {}, async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const { error, tookMs } = await jobAt(`tcp://127.0.0.1:${port}`);
    expect(error?.code).toBe('engine.unavailable');
    expect(tookMs).toBeLessThan(5_000);
  });

  dockerTest('F11 one clear error at once: a socket of another server, a folder, a missing file', {}, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engine-'));
    const other = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('+PONG\r\n');
    });
    await new Promise<void>((resolve) => other.listen(join(folder, 'other.sock'), resolve));
    try {
      for (const path of ['other.sock', '.', 'none.sock']) {
        const { error, tookMs } = await jobAt(`unix://${join(folder, path)}`);
        expect(error?.code, path).toBe('engine.unavailable');
        expect(tookMs, path).toBeLessThan(5_000);
      }
    } finally {
      other.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  const at =
    (path: RegExp, answer: ReturnType<AnswerChange>): AnswerChange =>
    (asked) =>
      path.test(asked) ? answer : undefined;
  // In parallel, because each takes its whole deadline.
  dockerTest(
    'F11 one clear error within ten seconds: it hangs when it lists images, creates, attaches, or starts',
    {},
    async () => {
      const places = [/^GET \/images/, /^POST \/containers\/create/, /\/attach/, /\/start/];
      const runs = places.map(async (place) => {
        await using engine = await changedEngine(at(place, 'hang'));
        return await jobAt(engine.host);
      });
      for (const { error, tookMs } of await Promise.all(runs)) {
        expect(error?.code).toBe('engine.unavailable');
        expect(tookMs).toBeLessThan(MOST_MS);
      }
      await until(async () => (await ownContainers()).length === 0, 'nothing to be left', 20_000);
    },
  );
  fault(
    'it fails to create',
    at(/^POST \/containers\/create/, { status: 500, body: '{"message":"no space left on device"}' }),
    'engine.failed',
  );
  fault(
    'it fails to start',
    at(/\/start/, { status: 500, body: '{"message":"OCI runtime create failed"}' }),
    'engine.failed',
  );
  fault('it breaks off its answer', at(/^GET \/info/, 'cut'), 'engine.unavailable');
  fault('it is a web server', at(/^GET \/info/, { status: 200, body: '<html>hello</html>' }), 'runner.isolation-unmet');

  const info =
    (change: Record<string, unknown>): AnswerChange =>
    (path, body) =>
      path.startsWith('GET /info')
        ? { body: JSON.stringify({ ...(JSON.parse(body) as object), ...change }) }
        : undefined;
  const unmet: [string, Record<string, unknown>][] = [
    ['A36 refuses an engine without seccomp', { SecurityOptions: ['name=apparmor'] }],
    ['A36 refuses an engine that does not report its security options', { SecurityOptions: null }],
    ['A36 refuses an engine that cannot limit memory', { MemoryLimit: false }],
    ['A36 refuses an engine that cannot limit processes', { PidsLimit: false }],
    ['A36 refuses an engine that cannot limit processors', { CpuCfsQuota: false }],
    ['A37 refuses an engine that is not Linux', { OSType: 'windows' }],
  ];
  for (const [name, change] of unmet) {
    dockerTest(name, {}, async () => {
      await using engine = await changedEngine(info(change));
      const { error } = await jobAt(engine.host);
      expect(error?.code).toBe('runner.isolation-unmet');
      expect(engine.paths.filter((path) => path.includes('/containers/'))).toEqual([]);
    });
  }

  dockerTest(
    'F10 a connection that breaks during a job ends the job as lost, and leaves no container',
    {},
    async () => {
      await using engine = await engineByTcp();
      const { bundle } = await dockerImage();
      await using orchestrator = createOrchestrator({ runners: [createDockerRunner({ host: engine.host, bundle })] });
      const stream = orchestrator.stream({
        kind: 'exec',
        language: 'bash',
        isolation: 'container',
        code: 'echo on; sleep 20',
      });
      const ended = stream.result.catch((error: unknown) => error as SkillcellError);
      for await (const event of stream) if (event.type === 'output') break;
      engine.cut();
      expect(await ended).toMatchObject({ code: 'sandbox.lost' });
      await until(async () => (await ownContainers()).length === 0, 'nothing to be left');
    },
  );

  dockerTest('F12 a container that was paused, stopped or removed is still cleaned up', {}, async () => {
    const { bundle, engine } = await dockerImage();
    for (const accident of ['pause', 'stop', 'kill', 'remove'] as const) {
      await using runner = createDockerRunner({ bundle });
      const sandbox = await runner.start(
        {
          isolation: 'container',
          language: 'bash',
          limits: { memoryMib: 128, cpus: 1, pids: 64, workspaceMib: 16, workspaceInodes: 100 },
        },
        { signal: new AbortController().signal },
      );
      const [row] = await listOwnContainers();
      const container = engine.getContainer(row?.Id ?? '');
      if (accident === 'remove') await container.remove({ force: true });
      else if (accident === 'stop') await container.stop({ t: 0 });
      else await container[accident]();
      await sandbox.kill('the test is over');
      const exit = await sandbox.exited;
      expect(['killed', 'exit', 'lost'], accident).toContain(exit.cause);
      expect(await ownContainers(), accident).toEqual([]);
    }
  });
});

describe('an engine by TCP', () => {
  dockerTest('C03 passes on every byte of 20,000 one-byte writes, even if the event loop is busy', {}, async () => {
    await using engine = await engineByTcp();
    const client = await connectEngine({ host: engine.host });
    const { image } = await dockerImage();
    const code = 'import os\nfor _ in range(20000): os.write(1, b"x")\nos.write(1, b"end")';
    const container = await client.createContainer({
      Image: image,
      Entrypoint: ['/usr/bin/python3', '-c', code],
      NetworkDisabled: true,
    });
    try {
      const attached = await container.attach({ stream: true, stdout: true, stderr: true });
      let bytes = 0;
      let last = '';
      const channel = demultiplex(attached as unknown as Parameters<typeof demultiplex>[0], () => undefined);
      channel.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        last = chunk.toString('latin1').slice(-3);
      });
      const ended = new Promise((resolve) => channel.once('close', resolve));
      await container.start();
      // All frames arrive during this time and are then read at once.
      const until = performance.now() + 700;
      while (performance.now() < until);
      await ended;
      expect(bytes).toBe(20_003);
      expect(last.endsWith('d')).toBe(true);
    } finally {
      await container.remove({ force: true });
    }
  });

  dockerTest('runs a job with one-byte writes and a busy host', {}, async () => {
    await using engine = await engineByTcp();
    const { bundle } = await dockerImage();
    await using orchestrator = createOrchestrator({ runners: [createDockerRunner({ host: engine.host, bundle })] });
    const running = orchestrator.exec({
      language: 'python',
      isolation: 'container',
      code: 'import os\nfor _ in range(20000): os.write(1, b"x")',
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    const until = performance.now() + 400;
    while (performance.now() < until);
    const result = await running;
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { bytes: 20_000, truncated: false } });
  });
});
