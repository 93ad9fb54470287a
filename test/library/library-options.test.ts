import { describe, expect, it } from 'vitest';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';

const store = {
  id: 'none',
  list: async () => ({ items: [], diagnostics: [] }),
  head: async () => Promise.reject(new Error('there is none')),
  open: async () => Promise.reject(new Error('there is none')),
  close: async () => {},
};

describe('openSkillLibrary() refuses, naming field, value and what is allowed', () => {
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
