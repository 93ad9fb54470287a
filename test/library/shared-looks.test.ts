import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call, SkillStore } from '../../src/contracts/skills/store.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import type { SkillLibrary } from '../../src/library/snapshot/skill-library.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { deferred } from '../fixtures/deferred.ts';
import { farAway } from '../fixtures/far-away.ts';
import { until } from '../fixtures/until.ts';

let home: string;
let library: SkillLibrary | undefined;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'shared-looks-')));
  library = undefined;
});
afterEach(async () => {
  await library?.close();
  removeTree(home);
});

interface HeldStore {
  store: SkillStore;
  /** Calls in progress, of the held kind. */
  held: { signal: AbortSignal | undefined; go(): void }[];
  /** The kind of calls that wait for the test. */
  hold: 'list' | 'open' | undefined;
  /** Calls that ended after the store was closed. */
  late: string[];
}

/** A store whose calls wait for the test, or for the abort of their signal. */
function heldStore(name = 'skills'): HeldStore {
  writeTree(join(home, name), { 'units/SKILL.md': '---\nname: units\ndescription: Units.\n---\nText.\n' });
  const cache = openTreeCache(join(home, 'cache'));
  const inner = farAway(createDirectoryStore({ path: join(home, name), kind: 'user', cache }));
  let isClosed = false;
  const wait = async (kind: 'list' | 'open', { signal }: Call = {}): Promise<void> => {
    if (of.hold !== kind) return;
    const gate = deferred<undefined>();
    of.held.push({ signal, go: () => gate.resolve(undefined) });
    signal?.addEventListener('abort', () => gate.resolve(undefined), { once: true });
    await gate.promise;
    if (isClosed) of.late.push(kind);
    signal?.throwIfAborted();
  };
  const of: HeldStore = {
    held: [],
    hold: undefined,
    late: [],
    store: {
      ...inner,
      list: async (call) => (await wait('list', call), await inner.list(call)),
      open: async (item, call) => (await wait('open', call), await inner.open(item, call)),
      close: async () => ((isClosed = true), await inner.close()),
    },
  };
  return of;
}

const open = async (...stores: SkillStore[]): Promise<SkillLibrary> =>
  (library = await openSkillLibrary({ stores, cacheDir: join(home, 'cache') }));

describe('concurrent callers of one look or one fetch', () => {
  it.each([
    ['list', async (of: SkillLibrary, call: Call) => await of.refresh(call)],
    [
      'open',
      async (of: SkillLibrary, call: Call) => (await of.subsystem({ ...call, refs: ['custom.units'] })).skills[0]?.body,
    ],
  ] as const)('end by their own signals, and the last abort ends the work (%s)', async (kind, ask) => {
    const held = heldStore();
    const opened = await open(held.store);
    held.hold = kind;
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()] as const;
    const one = ask(opened, { signal: first.signal });
    const two = ask(opened, { signal: second.signal });
    await until(() => held.held.length === 1, 'the call');
    first.abort(new Error('the first has gone'));
    await expect(one).rejects.toThrow('the first has gone');
    expect(held.held[0]?.signal?.aborted).toBe(false);
    held.held[0]?.go();
    expect(await two).toBe(kind === 'list' ? false : 'Text.\n');

    if (kind === 'open') return;
    const three = ask(opened, { signal: third.signal });
    await until(() => held.held.length === 2, 'the call');
    third.abort(new Error('the last has gone'));
    await expect(three).rejects.toThrow('the last has gone');
    expect(held.held[1]?.signal?.aborted).toBe(true);
    // Other callers do not notice it.
    held.hold = undefined;
    expect((await opened.heads()).map(({ id }) => id)).toEqual(['custom.units']);
    expect(await opened.refresh()).toBe(false);
  });

  it('end the fetch with the last abort, and the next call tries again', async () => {
    const held = heldStore();
    const opened = await open(held.store);
    held.hold = 'open';
    const only = new AbortController();
    const one = opened.subsystem({ refs: ['custom.units'], signal: only.signal });
    await until(() => held.held.length === 1, 'the call');
    only.abort(new Error('gone'));
    await expect(one).rejects.toThrow('gone');
    expect(held.held[0]?.signal?.aborted).toBe(true);
    held.hold = undefined;
    const { skills } = await opened.subsystem({ refs: ['custom.units'] });
    expect(skills.map(({ body }) => body)).toEqual(['Text.\n']);
  });

  it('never get the result of an aborted look, however late it ends', async () => {
    const held = heldStore();
    const deaf: SkillStore = { ...held.store, list: async () => await held.store.list() };
    const opened = await open(deaf);
    held.hold = 'list';
    const only = new AbortController();
    const one = opened.refresh({ signal: only.signal });
    await until(() => held.held.length === 1, 'the call');
    only.abort(new Error('gone'));
    await expect(one).rejects.toThrow('gone');
    held.hold = undefined;
    writeTree(join(home, 'skills'), { 'dates/SKILL.md': '---\nname: dates\ndescription: Dates.\n---\nText.\n' });
    expect(await opened.refresh()).toBe(true);
    held.held[0]?.go();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await opened.heads()).map(({ id }) => id)).toEqual(['custom.dates', 'custom.units']);
  });
});

describe('close()', () => {
  it.each(['list', 'open'] as const)('waits for calls in progress (%s), and refuses new ones', async (kind) => {
    const held = heldStore();
    const opened = await open(held.store);
    held.hold = kind;
    const one = kind === 'list' ? opened.refresh() : opened.subsystem({ refs: ['custom.units'] });
    await until(() => held.held.length === 1, 'the call');
    const closed = opened.close();
    await expect(opened.refresh()).rejects.toMatchObject({ code: 'store.unavailable' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    held.held[0]?.go();
    await one;
    await closed;
    expect(held.late).toEqual([]);
  });

  it('waits for the looks at the other stores when one store fails', async () => {
    const held = heldStore();
    const opened = heldStore('others');
    held.hold = 'list';
    const down: SkillStore = {
      ...opened.store,
      list: async () => {
        await until(() => held.held.length === 1, 'the call');
        throw new Error('down');
      },
    };
    await expect(open(held.store, down)).rejects.toThrow('down');
    expect(held.held[0]?.signal?.aborted).toBe(true);
    expect(held.late).toEqual([]);
  });
});

describe('a listener that throws', () => {
  it('affects neither other listeners nor the look', async () => {
    const { store } = heldStore();
    library = await openSkillLibrary({ stores: [store], cacheDir: join(home, 'cache'), lookIntervalMs: 0 });
    const fault = new Error('a fault of the listener');
    let told = 0;
    library.subscribe(() => {
      throw fault;
    });
    library.subscribe(() => (told += 1));
    writeTree(join(home, 'skills'), { 'more/SKILL.md': '---\nname: more\ndescription: More.\n---\nText.\n' });

    // The test runner's own listeners would turn the uncaught error into a failure.
    const others = process.rawListeners('uncaughtException') as ((error: Error) => void)[];
    process.removeAllListeners('uncaughtException');
    const uncaught = deferred<Error>();
    process.on('uncaughtException', uncaught.resolve);
    try {
      expect(await library.refresh()).toBe(true);
      expect(told).toBe(1);
      expect(await uncaught.promise).toBe(fault);
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const listener of others) process.on('uncaughtException', listener);
    }
  });
});
