import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWarmPool, type WarmPool, type WarmPoolOptions } from '../../../src/sandboxes/pool/warm-pool.ts';

interface Member {
  number: number;
  end(): void;
  destroyed: boolean;
}

let started: Member[];
let failures: unknown[];
let busy: boolean;
let pool: WarmPool<Member> | undefined;

/** A pool of members that start after 10 ms of the fake clock. */
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
  it('fills itself to its size, two at a time', async () => {
    const opened = open({ size: 5 });
    expect(opened.take()).toBeUndefined();
    await pass(10);
    expect(started).toHaveLength(2);
    await pass(10);
    expect(started).toHaveLength(4);
    await pass(1_000);
    expect(started).toHaveLength(5);
  });

  it('starts up to `parallelStarts` members at once', async () => {
    open({ size: 5, parallelStarts: 4 });
    await pass(10);
    expect(started).toHaveLength(4);
  });

  it('gives each member once, and replaces it', async () => {
    const opened = open();
    await pass(100);
    const [first, second] = [opened.take(), opened.take()];
    expect([first?.number, second?.number]).toEqual([0, 1]);
    expect(opened.take()).toBeUndefined();
    await pass(100);
    expect(opened.take()?.number).toBe(2);
    expect(started.some(({ destroyed }) => destroyed)).toBe(false);
  });

  it('gives the longest waiting accepted member', async () => {
    const opened = open({ size: 3 });
    await pass(100);
    expect(opened.take(({ number }) => number === 7)).toBeUndefined();
    expect(opened.take(({ number }) => number > 0)?.number).toBe(1);
    expect(opened.take()?.number).toBe(0);
  });

  it('drops a member that ends on its own, and replaces it', async () => {
    const opened = open({ size: 1 });
    await pass(100);
    started[0]?.end();
    expect(opened.take()).toBeUndefined();
    await pass(100);
    expect(opened.take()?.number).toBe(1);
  });

  it('does not replace a taken member that ends', async () => {
    const opened = open({ size: 1 });
    await pass(100);
    const taken = opened.take();
    await pass(100);
    expect(started).toHaveLength(2);
    taken?.end();
    await pass(100);
    expect(started).toHaveLength(2);
  });

  it('yields to running jobs for a limited time', async () => {
    busy = true;
    open({ size: 1 });
    await pass(20);
    expect(started).toHaveLength(0);
    await pass(100);
    expect(started).toHaveLength(1);
  });

  it('yields longer while a member waits', async () => {
    const pool = open({ size: 2 });
    await pass(50);
    expect(started).toHaveLength(2);
    busy = true;
    pool.take();
    await pass(90);
    expect(started).toHaveLength(2);
    await pass(100);
    expect(started).toHaveLength(3);
  });

  it('waits longer after each failed start, reports each failure, and recovers', async () => {
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

  it('resolves filled() when the pool is full, and when its starts fail', async () => {
    const opened = open({ size: 3 });
    let filled = false;
    void opened.filled().then(() => (filled = true));
    await pass(15);
    expect(filled).toBe(false);
    await pass(15);
    expect(filled).toBe(true);
    const failing = open({ start: () => Promise.reject(new Error('never')) });
    await failing.filled();
    expect(failures).toHaveLength(2);
  });

  it('keeps one member after an idle time, and refills after the next job', async () => {
    const opened = open({ size: 3, idleMs: 5_000 });
    await pass(4_900);
    expect(started).toHaveLength(3);
    await pass(200);
    expect(started.filter(({ destroyed }) => destroyed)).toHaveLength(2);
    expect(opened.take()?.destroyed).toBe(false);
    await pass(1_000);
    expect(started.filter(({ destroyed }) => !destroyed)).toHaveLength(4);
  });

  it('destroys a member whose start ends after the pool has shrunk', async () => {
    // The start begins for a full pool and ends after the idle time.
    const opened = open({ size: 3, idleMs: 15 });
    await pass(14);
    expect(opened.counts()).toMatchObject({ size: 3, waiting: 2 });
    await pass(2);
    expect(opened.counts()).toMatchObject({ size: 1, waiting: 1 });
    await pass(1_000);
    expect(started).toHaveLength(3);
    expect(opened.counts()).toMatchObject({ size: 1, waiting: 1 });
    expect(started.filter(({ destroyed }) => destroyed)).toHaveLength(2);
  });

  it('ends every member at close(), also one whose start is under way, and starts no more', async () => {
    const opened = open({ size: 5 });
    await pass(15);
    const closing = opened.close();
    await pass(1_000);
    await closing;
    expect(started).toHaveLength(4);
    expect(started.every(({ destroyed }) => destroyed)).toBe(true);
    expect(opened.take()).toBeUndefined();
    await pass(600_000);
    expect(started).toHaveLength(4);
    await opened.close();
    expect(failures).toEqual([]);
  });

  it('reports members that cannot be ended at close(), and ends the others', async () => {
    let ended = 0;
    const opened = open({
      size: 3,
      async destroy({ number }) {
        if (number === 0) throw new Error('it does not go');
        ended += 1;
      },
    });
    await pass(100);
    await opened.close();
    expect(ended).toBe(2);
    expect(failures).toEqual([new Error('it does not go')]);
  });

  describe('while starts fail', () => {
    let broken: boolean;
    let tries: number;
    function openBroken(): WarmPool<Member> {
      broken = true;
      tries = 0;
      return open({
        size: 4,
        async start() {
          tries += 1;
          await new Promise((resolve) => setTimeout(resolve, 10));
          if (broken) throw new Error('no engine');
          const member = { number: started.length, destroyed: false, end: () => undefined };
          started.push(member);
          return member;
        },
      });
    }

    it('tries one at a time, for any number of jobs', async () => {
      const opened = openBroken();
      await pass(10);
      expect(tries).toBe(2);
      for (let job = 0; job < 20; job += 1) {
        expect(opened.take()).toBeUndefined();
        await pass(10);
      }
      expect(tries).toBe(2);
      await pass(310);
      expect(tries).toBe(3);
    });

    it('tries again at once after a successful start elsewhere, and then starts in parallel again', async () => {
      const opened = openBroken();
      await pass(60_000);
      const before = tries;
      opened.retry();
      expect(tries).toBe(before + 1);
      await pass(100);
      expect(tries).toBe(before + 1);
      broken = false;
      opened.retry();
      await pass(10);
      expect(started).toHaveLength(1);
      await pass(10);
      expect(started).toHaveLength(3);
      await pass(1_000);
      opened.retry();
      await pass(1_000);
      expect(started).toHaveLength(4);
    });
  });

  describe('with a check', () => {
    let answers: (member: Member) => Promise<void>;
    function openChecked(): WarmPool<Member> {
      return open({ check: (member) => answers(member), checkIntervalMs: 1_000 });
    }

    it('replaces a member that does not answer, and keeps the others', async () => {
      answers = async ({ number }) => {
        if (number === 1) throw new Error('no answer');
      };
      const opened = openChecked();
      await pass(5_500);
      expect(started.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
      expect(failures).toEqual([new Error('no answer')]);
      expect([opened.take()?.number, opened.take()?.number]).toEqual([0, 2]);
    });

    it('does not give away a member during its check, and checks one at a time', async () => {
      let asked = 0;
      answers = async () => {
        asked += 1;
        await new Promise((resolve) => setTimeout(resolve, 1_500));
      };
      const opened = openChecked();
      await pass(1_200);
      expect(asked).toBe(1);
      expect(opened.counts().waiting).toBe(1);
      expect(opened.take()?.number).toBe(1);
      expect(opened.take()).toBeUndefined();
      await pass(1_400);
      expect(opened.take()?.number).toBe(0);
    });

    it('starts no further check before all members have answered', async () => {
      let under = 0;
      let most = 0;
      answers = async () => {
        most = Math.max(most, (under += 1));
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        under -= 1;
      };
      openChecked();
      await pass(10_000);
      expect(most).toBe(1);
    });

    it('checks no member while jobs run or after close()', async () => {
      let asked = 0;
      answers = async () => void (asked += 1);
      const opened = openChecked();
      await pass(500);
      busy = true;
      await pass(5_000);
      expect(asked).toBe(0);
      busy = false;
      await pass(1_000);
      expect(asked).toBe(2);
      await opened.close();
      await pass(5_000);
      expect(asked).toBe(2);
    });
  });

  describe('with a preparation', () => {
    let prepared: number[];
    let fails: boolean;
    function openPrepared(more: Partial<WarmPoolOptions<Member>> = {}): WarmPool<Member> {
      prepared = [];
      fails = false;
      return open({
        async prepare({ number }) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (fails) throw new Error(`member ${number} cannot be prepared`);
          prepared.push(number);
        },
        ...more,
      });
    }

    it('prepares each member once, one after the other, before filled() resolves', async () => {
      const opened = openPrepared({ size: 3 });
      let filled = false;
      void opened.filled().then(() => (filled = true));
      await pass(60);
      expect(prepared).toEqual([0]);
      expect(filled).toBe(false);
      await pass(101);
      expect(prepared).toEqual([0, 1, 2]);
      expect(filled).toBe(true);
      await pass(10_000);
      expect(prepared).toHaveLength(3);
    });

    it('does not give away a member during its preparation, but gives unprepared members', async () => {
      const opened = openPrepared();
      await pass(30);
      expect(opened.counts().waiting).toBe(1);
      expect(opened.take()?.number).toBe(1);
      expect(opened.take()).toBeUndefined();
      await pass(40);
      expect(prepared).toEqual([0]);
      expect(opened.take()?.number).toBe(0);
      await pass(1_000);
      expect(prepared).toEqual([0, 2, 3]);
    });

    it('yields to running jobs for half a second', async () => {
      const opened = openPrepared({ size: 1 });
      await pass(5);
      busy = true;
      await pass(490);
      expect(prepared).toEqual([]);
      expect(opened.counts().waiting).toBe(1);
      await pass(75);
      expect(prepared).toEqual([0]);
    });

    it('ends a member that cannot be prepared, and waits before the next start', async () => {
      const opened = openPrepared({ size: 1 });
      fails = true;
      await pass(61);
      expect(started.map(({ destroyed }) => destroyed)).toEqual([true]);
      expect(failures).toEqual([new Error('member 0 cannot be prepared')]);
      expect(opened.counts()).toMatchObject({ waiting: 0, startFailures: 1 });
      fails = false;
      await pass(400);
      expect(started).toHaveLength(1);
      await pass(200);
      expect(prepared).toEqual([1]);
    });

    it('does not prepare a member during its check', async () => {
      const order: string[] = [];
      const step = async (name: string): Promise<void> => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 400));
        order.push(`${name} ends`);
      };
      openPrepared({
        size: 1,
        checkIntervalMs: 300,
        check: () => step('check'),
        prepare: () => step('preparation'),
      });
      // Until just before both are due: the check at 300 ms, and the preparation after the busy time.
      busy = true;
      await pass(297);
      busy = false;
      await pass(2_000);
      expect(order.length).toBeGreaterThan(3);
      for (let at = 0; at + 1 < order.length; at += 2) expect(order[at + 1]).toBe(order[at]?.replace('begins', 'ends'));
    });

    it('reports no failure of a member that ends during its preparation', async () => {
      openPrepared({ size: 1 });
      await pass(20);
      fails = true;
      started[0]?.end();
      await pass(41);
      expect(failures).toEqual([]);
      fails = false;
      await pass(100);
      expect(prepared).toEqual([1]);
    });
  });

  describe('next()', () => {
    const anyone = (): boolean => true;
    const patient = new AbortController().signal;

    it('gives a starting member as soon as it is ready, unprepared, and replaces it', async () => {
      const prepared: number[] = [];
      const opened = open({
        size: 1,
        async prepare({ number }) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          prepared.push(number);
        },
      });
      const next = opened.next(anyone, patient);
      await pass(10);
      expect((await next)?.number).toBe(0);
      expect(started).toHaveLength(2);
      expect(opened.counts()).toMatchObject({ waiting: 0, hits: 0, misses: 0 });
      await pass(100);
      expect(prepared).toEqual([1]);
      expect(opened.counts()).toMatchObject({ waiting: 1 });
    });

    it('gives one member per start under way, and undefined to further callers at once', async () => {
      const opened = open({ size: 4 });
      const waiting = [1, 2].map(async () => (await opened.next(anyone, patient))?.number);
      expect(await opened.next(anyone, patient)).toBeUndefined();
      await pass(10);
      expect(await Promise.all(waiting)).toEqual([0, 1]);
      await pass(1_000);
      expect(opened.counts().waiting).toBe(4);
      expect(await opened.next(anyone, patient)).toBeUndefined();
    });

    it('does not count a start that waits for its turn: a start elsewhere is faster', async () => {
      const turn = Promise.withResolvers<() => void>();
      const left: string[] = [];
      const opened = open({ size: 1, enter: () => turn.promise });
      expect(await opened.next(anyone, patient)).toBeUndefined();
      turn.resolve(() => void left.push('left'));
      await pass(0);
      const next = opened.next(anyone, patient);
      expect(left).toEqual([]);
      await pass(10);
      expect((await next)?.number).toBe(0);
      expect(left).toEqual(['left', 'left']);
    });

    it('ends the wait of a start for running jobs when a caller waits for it', async () => {
      busy = true;
      const opened = open({ size: 1 });
      const next = opened.next(anyone, patient);
      await pass(5 + 10);
      expect((await next)?.number).toBe(0);
    });

    it('keeps a member that the caller does not accept', async () => {
      const opened = open({ size: 1 });
      const next = opened.next(({ number }) => number === 7, patient);
      await pass(10);
      expect(await next).toBeUndefined();
      expect(opened.take()?.number).toBe(0);
    });

    it('resolves with undefined if the start fails', async () => {
      let tries = 0;
      const opened = open({
        async start() {
          tries += 1;
          await new Promise((resolve) => setTimeout(resolve, 10));
          throw new Error('no engine');
        },
        parallelStarts: 1,
      });
      const next = opened.next(anyone, patient);
      await pass(10);
      expect(await next).toBeUndefined();
      expect(tries).toBe(1);
      expect(failures).toEqual([new Error('no engine')]);
    });

    it('resolves with undefined if the pool is closed in the meantime', async () => {
      const opened = open({ size: 1 });
      const next = opened.next(anyone, patient);
      void opened.close();
      await pass(10);
      expect(await next).toBeUndefined();
      expect(started.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    });

    it('rejects an aborted caller with its reason, and gives the member to the next caller', async () => {
      const opened = open({ size: 1 });
      const leaving = new AbortController();
      const left = opened.next(anyone, leaving.signal);
      const reason = new Error('canceled');
      leaving.abort(reason);
      await expect(left).rejects.toBe(reason);
      await expect(opened.next(anyone, leaving.signal)).rejects.toBe(reason);
      const next = opened.next(anyone, patient);
      await pass(10);
      expect((await next)?.number).toBe(0);
    });
  });

  it('counts hits, misses and start times', async () => {
    const opened = open({ size: 2, idleMs: 60_000 });
    expect(opened.counts()).toEqual({ size: 2, waiting: 0, hits: 0, misses: 0, startFailures: 0, refillMs: null });
    expect(opened.take()).toBeUndefined();
    opened.missed();
    await pass(100);
    opened.take();
    expect(opened.counts()).toEqual({ size: 2, waiting: 1, hits: 1, misses: 1, startFailures: 0, refillMs: 10 });
    await pass(100);
    expect(opened.counts().waiting).toBe(2);
    expect(opened.sample()?.number).toBe(1);
    await pass(60_000);
    expect(opened.counts()).toMatchObject({ size: 1, waiting: 1, hits: 1 });
  });
});
