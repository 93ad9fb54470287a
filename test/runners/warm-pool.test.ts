import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWarmPool, type WarmPool, type WarmPoolOptions } from '../../src/runners/warm-pool.ts';

interface Member {
  number: number;
  end(): void;
  destroyed: boolean;
}

let started: Member[];
let failures: unknown[];
let busy: boolean;
let pool: WarmPool<Member> | undefined;

/** A pool of members that start after 10 ms of the test's own clock. */
function open(more: Partial<WarmPoolOptions<Member>> = {}): WarmPool<Member> {
  const ends = new Map<Member, () => void>();
  pool = createWarmPool<Member>({
    size: 2,
    async start() {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const member: Member = { number: started.length, destroyed: false, end: () => ends.get(member)?.() };
      started.push(member);
      return member;
    },
    async destroy(member) {
      member.destroyed = true;
    },
    onEnd: (member, callback) => void ends.set(member, callback),
    isBusy: () => busy,
    onFailure: (error) => void failures.push(error),
    ...more,
  });
  return pool;
}

beforeEach(() => {
  vi.useFakeTimers();
  started = [];
  failures = [];
  busy = false;
});
afterEach(async () => {
  const closing = pool?.close();
  await vi.runAllTimersAsync();
  await closing;
  vi.useRealTimers();
});

const pass = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

describe('createWarmPool()', () => {
  it('fills itself to its size, one at a time, and no further', async () => {
    const opened = open({ size: 3 });
    expect(opened.take()).toBeUndefined();
    await pass(10);
    expect(started).toHaveLength(1);
    await pass(10);
    expect(started).toHaveLength(2);
    await pass(1_000);
    expect(started).toHaveLength(3);
  });

  it('gives each member once, and starts another for it', async () => {
    const opened = open();
    await pass(100);
    const [first, second] = [opened.take(), opened.take()];
    expect([first?.number, second?.number]).toEqual([0, 1]);
    expect(opened.take()).toBeUndefined();
    await pass(100);
    expect(opened.take()?.number).toBe(2);
    expect(started.some(({ destroyed }) => destroyed)).toBe(false);
  });

  it('forgets a member that ends by itself, and starts another for it', async () => {
    const opened = open({ size: 1 });
    await pass(100);
    started[0]?.end();
    expect(opened.take()).toBeUndefined();
    await pass(100);
    expect(opened.take()?.number).toBe(1);
  });

  it('an end after the member was taken starts nothing', async () => {
    const opened = open({ size: 1 });
    await pass(100);
    const taken = opened.take();
    await pass(100);
    expect(started).toHaveLength(2);
    taken?.end();
    await pass(100);
    expect(started).toHaveLength(2);
  });

  it('yields to running jobs for a while, but not for ever', async () => {
    busy = true;
    open({ size: 1 });
    await pass(90);
    expect(started).toHaveLength(0);
    await pass(200);
    expect(started).toHaveLength(1);
  });

  it('waits longer and longer when starts fail, says so each time, and recovers', async () => {
    let broken = true;
    let tries = 0;
    open({
      size: 1,
      async start() {
        tries += 1;
        if (broken) throw new Error(`start ${tries} failed`);
        const member = { number: 0, destroyed: false, end: () => undefined };
        started.push(member);
        return member;
      },
    });
    await pass(0);
    expect(tries).toBe(1);
    await pass(499);
    expect(tries).toBe(1);
    await pass(1);
    expect(tries).toBe(2);
    await pass(999);
    expect(tries).toBe(2);
    await pass(1);
    expect(tries).toBe(3);
    await pass(200_000);
    const many = tries;
    await pass(30_000);
    expect(tries - many).toBe(1);
    expect(failures).toHaveLength(tries);
    broken = false;
    await pass(30_000);
    expect(started).toHaveLength(1);
    await pass(200_000);
    expect(tries).toBe(failures.length + 1);
  });

  it('filled() resolves when the pool is full, and when its starts fail', async () => {
    const opened = open();
    let filled = false;
    void opened.filled().then(() => (filled = true));
    await pass(15);
    expect(filled).toBe(false);
    await pass(15);
    expect(filled).toBe(true);
    const failing = open({ start: () => Promise.reject(new Error('never')) });
    await failing.filled();
    expect(failures).toHaveLength(1);
  });

  it('keeps one member when nobody comes for a while, and is whole again after the next job', async () => {
    const opened = open({ size: 3, idleMs: 5_000 });
    await pass(4_900);
    expect(started).toHaveLength(3);
    await pass(200);
    expect(started.filter(({ destroyed }) => destroyed)).toHaveLength(2);
    expect(opened.take()?.destroyed).toBe(false);
    await pass(1_000);
    expect(started.filter(({ destroyed }) => !destroyed)).toHaveLength(4);
  });

  it('close() ends every member, also one that is just being started, and starts no more', async () => {
    const opened = open({ size: 3 });
    await pass(15);
    const closing = opened.close();
    await pass(1_000);
    await closing;
    expect(started).toHaveLength(2);
    expect(started.every(({ destroyed }) => destroyed)).toBe(true);
    expect(opened.take()).toBeUndefined();
    await pass(600_000);
    expect(started).toHaveLength(2);
    await opened.close();
    expect(failures).toEqual([]);
  });
});
