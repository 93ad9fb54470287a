import { Session } from 'node:inspector/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type DoorScene,
  type DoorSceneOptions,
  openDoorScene,
  verdict,
  whole,
} from '../../fixtures/egress/door-scene.ts';
import { startUpstream, type Upstream } from '../../fixtures/egress/upstream.ts';
import { until } from '../../fixtures/until.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream[Symbol.asyncDispose]());
afterEach(() => void vi.useRealTimers());

/** Opens a scene, and takes hold of its worker. */
async function openWithWorker(options?: DoorSceneOptions): Promise<{ door: DoorScene; worker: Worker }> {
  const made = vi.fn<(worker: Worker) => void>();
  process.on('worker', made);
  const door = await openDoorScene(upstream, options);
  process.off('worker', made);
  const worker = made.mock.calls.at(-1)?.[0];
  if (worker === undefined) throw new Error('no worker was started');
  return { door, worker };
}

/** Lets the worker of this process run a loop without an end, as a debugger may. */
async function spin(): Promise<void> {
  using session = Object.assign(new Session(), { [Symbol.dispose]: () => session.disconnect() });
  session.connect();
  const attached = Promise.withResolvers<string>();
  session.on('NodeWorker.attachedToWorker', ({ params }) => attached.resolve(params.sessionId));
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: 'for (;;);' } });
  await session.post('NodeWorker.sendMessageToWorker', { message, sessionId: await attached.promise });
}

async function untilRestarted({ tunnel }: DoorScene): Promise<void> {
  await until(async () => {
    const socket = await tunnel('api.test:443').catch(() => undefined);
    socket?.destroy();
    return socket !== undefined;
  }, 'a new worker');
}

describe('P27 a fault in the worker', () => {
  it('ends the requests under way with a reason, and the next ones work', async () => {
    const { door, worker } = await openWithWorker();
    await using _ = door;
    const waiting = await door.secure(`api.test:${upstream.port}`);
    waiting.write(`POST / HTTP/1.1\r\nhost: api.test:${upstream.port}\r\ncontent-length: 9\r\n\r\nx`);
    await until(() => upstream.requests.at(-1)?.method === 'POST', 'a request under way');
    const ended = whole(waiting);
    // No message of ours: reading it throws.
    worker.postMessage(null, []);
    await ended;
    await until(() => door.faults.length > 0, 'a reason');
    expect(door.faults).toEqual([expect.stringContaining('TypeError')]);
    expect(door.rows.map(({ method }) => method)).toEqual(['POST']);
    expect(verdict(await door.ask('api.test'))).toBe('200');
  });

  it('that ends it starts another one, which programs trust as well', async () => {
    const { door, worker } = await openWithWorker();
    await using _ = door;
    const before = door.job.authority;
    expect(verdict(await door.ask('api.test'))).toBe('200');
    const waiting = await door.tunnel('api.test:443');
    const ended = whole(waiting);
    await worker.terminate();
    await ended;
    await untilRestarted(door);
    expect(door.job.authority).toBe(before);
    expect(verdict(await door.ask('api.test'))).toBe('200');
  });

  it('that ends it loses neither the row of a request under way nor what the job has used', async () => {
    const { door, worker } = await openWithWorker({ limits: { requests: 2 } });
    await using _ = door;
    const waiting = await door.secure(`api.test:${upstream.port}`);
    waiting.write(`POST /wait HTTP/1.1\r\nhost: api.test:${upstream.port}\r\ncontent-length: 9\r\n\r\nx`);
    await until(() => upstream.requests.at(-1)?.url === '/wait', 'a request under way');
    const ended = whole(waiting);
    await worker.terminate();
    await ended;
    expect(door.rows).toMatchObject([{ method: 'POST', host: 'api.test', path: '/wait', rule: expect.any(String) }]);
    expect(door.rows[0]).not.toHaveProperty('status');
    await untilRestarted(door);
    expect(verdict(await door.ask('api.test'))).toBe('200');
    expect(verdict(await door.ask('api.test'))).toBe('429 quota');
  });

  it('that keeps it from answering ends it, and another one starts', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await using door = await openDoorScene(upstream);
    const pass = async (): Promise<void> => {
      vi.advanceTimersByTime(5_000);
      await door.job.settled().catch(() => undefined);
    };
    for (let time = 0; time < 10; time += 1) await pass();
    expect(door.faults).toEqual([]);

    await spin();
    await until(() => {
      vi.advanceTimersByTime(5_000);
      return door.faults.length > 0;
    }, 'the end of the worker');
    expect(door.faults).toEqual(['the worker of the network does not answer']);
    vi.useRealTimers();
    await untilRestarted(door);
    expect(verdict(await door.ask('api.test'))).toBe('200');
  });
});
