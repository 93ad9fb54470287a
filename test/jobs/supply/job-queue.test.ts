import { describe, expect, it } from 'vitest';
import { createJobQueue } from '../../../src/jobs/supply/job-queue.ts';

const never = new AbortController().signal;

describe('createJobQueue()', () => {
  it('admits as many as it has places, and the others in the order of their arrival', async () => {
    const queue = createJobQueue(2, 10);
    const first = await queue.enter(never);
    const second = await queue.enter(never);
    const order: number[] = [];
    const third = queue.enter(never).then((leave) => (order.push(3), leave));
    const fourth = queue.enter(never).then((leave) => (order.push(4), leave));
    await Promise.resolve();
    expect({ running: queue.running, order }).toEqual({ running: 2, order: [] });
    second();
    (await third)();
    await fourth;
    expect(order).toEqual([3, 4]);
    expect(queue.running).toBe(2);
    first();
    expect(queue.running).toBe(1);
  });

  it('B19 giving a place back twice frees only one place', async () => {
    const queue = createJobQueue(1, 10);
    const leave = await queue.enter(never);
    leave();
    leave();
    expect(queue.running).toBe(0);
    await queue.enter(never);
    let entered = false;
    void queue.enter(never).then(() => (entered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(entered).toBe(false);
  });

  it('B20 refuses entry if too many wait', async () => {
    const queue = createJobQueue(1, 1);
    const leave = await queue.enter(never);
    const waits = queue.enter(never);
    await expect(queue.enter(never)).rejects.toMatchObject({ code: 'orchestrator.queue-full' });
    leave();
    (await waits)();
    (await queue.enter(never))();
    expect(queue.running).toBe(0);
  });

  it('rejects an aborted entry, while waiting or before, without losing a place', async () => {
    const queue = createJobQueue(1, 10);
    const leave = await queue.enter(never);
    const abort = new AbortController();
    const reason = new Error('not wanted any more');
    const aborted = queue.enter(abort.signal);
    const next = queue.enter(never);
    abort.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await expect(queue.enter(abort.signal)).rejects.toBe(reason);
    leave();
    (await next)();
    expect(queue.running).toBe(0);
  });

  it('an abort in the middle of the line affects no other entry, and loses no place', async () => {
    const queue = createJobQueue(1, 10);
    const leave = await queue.enter(never);
    const abort = new AbortController();
    const order: number[] = [];
    const wait = async (number: number, signal: AbortSignal): Promise<void> => {
      const go = await queue.enter(signal);
      order.push(number);
      go();
    };
    const first = wait(1, never);
    const aborted = wait(2, abort.signal);
    const last = [wait(3, never), wait(4, never)];
    abort.abort(new Error('not wanted any more'));
    await expect(aborted).rejects.toThrow('not wanted any more');
    leave();
    await Promise.all([first, ...last]);
    expect(order).toEqual([1, 3, 4]);
    expect(queue.running).toBe(0);
    (await queue.enter(never))();
  });

  it('an abort at the moment of its turn affects no other entry', async () => {
    const queue = createJobQueue(1, 10);
    const leave = await queue.enter(never);
    const abort = new AbortController();
    const called = queue.enter(abort.signal);
    const behind = queue.enter(never);
    leave();
    abort.abort(new Error('too late'));
    (await called)();
    (await behind)();
    expect(queue.running).toBe(0);
  });
});
