import { describe, expect, it } from 'vitest';
import { outlookLine, outlookWithout } from '../../scripts/test-outlook.ts';

describe('the line before the tests', () => {
  it('names the missing parts, their packages, the number of left-out tests, and the duration of the others', () => {
    const outlook = outlookWithout('all', ['engine', 'python', 'root']);
    expect(outlook.leftOut).toBeGreaterThan(outlookWithout('all', ['engine']).leftOut);
    expect(outlook.minutes).toBeLessThan(outlookWithout('all', ['engine']).minutes);
    expect(outlookLine(outlook, true)).toBe(
      'tests: this machine lacks a Docker engine, python3 and the rights of root (apt-get install docker.io python3); ' +
        `about ${outlook.leftOut} of all tests are left out; the others take about ${outlook.minutes} minutes on two processors that do nothing else`,
    );
  });

  it('counts a test that needs two missing parts once', () => {
    const both = outlookWithout('all', ['bubblewrap', 'python']).leftOut;
    expect(both).toBeLessThan(
      outlookWithout('all', ['bubblewrap']).leftOut + outlookWithout('all', ['python']).leftOut,
    );
  });

  it('promises at most five minutes for a change, and forty for all', () => {
    expect(outlookLine(outlookWithout('quick', []), true)).toMatch(
      /^tests: this machine has all that they need; the tests for a change take about [1-5] minutes /,
    );
    expect(outlookWithout('all', []).minutes).toBeLessThanOrEqual(40);
    expect(outlookWithout('rest', []).minutes).toBeLessThan(outlookWithout('all', []).minutes);
  });

  it('is short if no part is missing or only some tests run', () => {
    expect(outlookLine(outlookWithout('quick', []), false)).toBe('');
    expect(outlookLine(outlookWithout('quick', ['strace']), false)).toBe(
      'tests: this machine lacks strace (apt-get install strace); tests that need it are left out',
    );
  });
});
