import { describe, expect, it } from 'vitest';
import { FUZZ_TARGETS, runFuzz } from './fuzz.ts';
import { missingPython } from './python-zipfile.ts';

/** A short run of `npm run fuzz`. */
describe('the code that reads other processes', () => {
  it('keeps its promises in every conversation of a short run', async () => {
    const { cases, failures, leftOut } = await runFuzz({ seed: 1, seconds: 60, cases: 40 });
    expect(failures).toEqual([]);
    expect(leftOut).toEqual(missingPython() === undefined ? [] : [expect.stringContaining('lacks /usr/bin/python3')]);
    expect(cases).toBeGreaterThan(0);
  });

  it('is reported as failed when it throws', async () => {
    FUZZ_TARGETS['broken'] = () => Promise.reject(new Error('broken'));
    try {
      const { failures } = await runFuzz({ seed: 7, seconds: 60, cases: 1 });
      const told = failures.filter(({ target }) => target === 'broken');
      expect(told.map(({ seed, message }) => [seed, message.split('\n')[0]])).toEqual([[7, 'Error: broken']]);
    } finally {
      delete FUZZ_TARGETS['broken'];
    }
  });
});
