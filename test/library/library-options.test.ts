import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';

const store = {
  id: 'none',
  list: async () => ({ items: [], diagnostics: [] }),
  head: async () => Promise.reject(new Error('there is no skill')),
  open: async () => Promise.reject(new Error('there is no skill')),
  close: async () => {},
};

describe('openSkillLibrary() refuses invalid options, naming field, value and allowed values', () => {
  it.each([
    [{}, 'stores'],
    [{ stores: [{ id: 'half' }] }, 'stores.0 must be a store, such as createDirectoryStore()'],
    [{ stores: [store], stale: 'maybe' }, 'stale must be one of refuse, use, got "maybe"'],
    [{ stores: [store], frozen: 'yes' }, 'frozen'],
    [{ stores: [store], lookIntervalMs: -1 }, 'lookIntervalMs'],
    [{ stores: [store], cache: 'cache' }, 'cache'],
  ])('%j', async (options, message) => {
    await expect(openSkillLibrary(options as never)).rejects.toMatchObject({
      code: 'options.invalid',
      message: expect.stringContaining(message) as string,
    });
  });
});

let cacheDir: string;
beforeEach(() => {
  cacheDir = mkdtempSync(join(tmpdir(), 'library-options-'));
});
afterEach(() => removeTree(cacheDir));

describe('a library refuses invalid arguments, naming field, value and allowed values', () => {
  it.each([
    ['heads', [{ consumer: 5 }], 'consumer must be a text, got 5'],
    ['heads', [null], 'the options must be an object, got null'],
    ['subsystem', [{ refs: 'custom.units' }], 'refs must be a list, got "custom.units"'],
    ['subsystem', [{ refs: [5] }], 'refs.0 must be a text, got 5'],
    ['explain', [undefined], 'refs.0'],
    ['explain', ['units', { consumer: {} }], 'consumer must be a text'],
    ['subscribe', [5], 'the listener must be a function, got 5'],
  ] as const)('%s() %j', async (name, given, message) => {
    await using library = await openSkillLibrary({ stores: [store], cacheDir });
    const call = library[name] as (...all: readonly unknown[]) => unknown;
    await expect((async () => await call(...given))()).rejects.toMatchObject({
      code: 'options.invalid',
      message: expect.stringContaining(message) as string,
    });
  });
});
