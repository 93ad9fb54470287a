import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../src/protocol/limiter.ts';

describe('createLimiter()', () => {
  it('runs two at once and in turn, also after a failure', async () => {
    const limiter = createLimiter({ room: 2 });
    let [running, most] = [0, 0];
    const done: number[] = [];
    const work = async (name: number): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      done.push(name);
      if (name === 0) throw new Error('failed');
    };
    const all = Array.from({ length: 7 }, async (_, name) => await limiter.run(() => work(name)));
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      'rejected',
      ...Array(6).fill('fulfilled'),
    ]);
    expect([most, done]).toEqual([2, [0, 1, 2, 3, 4, 5, 6]]);
  });

  it('refuses requests that exceed the queue', async () => {
    const limiter = createLimiter({ room: 1, queue: 10 });
    const leave = await limiter.enter({ size: 100 });
    const waiting = limiter.enter({ size: 10 });
    expect(await limiter.enter({ size: 1 })).toBeUndefined();
    await expect(limiter.run(async () => 1)).rejects.toThrow('the queue is full');
    leave?.();
    leave?.();
    (await waiting)?.();
    expect(limiter.running).toBe(0);
  });

  it('lets heavy work run alone, and lighter work wait behind it', async () => {
    const limiter = createLimiter({ room: 10 });
    const first = await limiter.enter({ weight: 4 });
    const started: string[] = [];
    const heavy = limiter.enter({ weight: 50 }).then((leave) => (started.push('heavy'), leave));
    const light = limiter.enter({ weight: 1 }).then((leave) => (started.push('light'), leave));
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toEqual([]);
    first?.();
    const leaveHeavy = await heavy;
    await new Promise((resolve) => setImmediate(resolve));
    expect([started, limiter.running]).toEqual([['heavy'], 50]);
    leaveHeavy?.();
    (await light)?.();
    expect(started).toEqual(['heavy', 'light']);
  });

  it('takes an aborted request out of the queue', async () => {
    const limiter = createLimiter({ room: 1 });
    const leave = await limiter.enter();
    const caller = new AbortController();
    const canceled = limiter.enter({ signal: caller.signal });
    const next = limiter.enter();
    caller.abort(new Error('canceled'));
    await expect(canceled).rejects.toThrow('canceled');
    leave?.();
    (await next)?.();
    expect(limiter.running).toBe(0);
  });
});
