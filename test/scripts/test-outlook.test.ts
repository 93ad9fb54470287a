import { describe, expect, it } from 'vitest';
import { outlookLine, outlookWithout } from '../../scripts/test-outlook.ts';

describe('the line before the tests', () => {
  it('says what is missing, what brings it, how many tests that leaves out, and how long the others take', () => {
    const outlook = outlookWithout(['engine', 'python', 'root']);
    expect(outlook.leftOut).toBeGreaterThan(outlookWithout(['engine']).leftOut);
    expect(outlook.minutes).toBeLessThan(outlookWithout(['engine']).minutes);
    expect(outlookLine(outlook, true)).toBe(
      'tests: this machine lacks a Docker engine, python3 and the rights of root (apt-get install docker.io python3); ' +
        `about ${outlook.leftOut} tests are left out; the others take about ${outlook.minutes} minutes on two processors that do nothing else`,
    );
  });

  it('counts a test that needs two missing parts once', () => {
    const both = outlookWithout(['bubblewrap', 'python']).leftOut;
    expect(both).toBeLessThan(outlookWithout(['bubblewrap']).leftOut + outlookWithout(['python']).leftOut);
  });

  it('is short where nothing is missing, and where only some tests run', () => {
    expect(outlookLine(outlookWithout([]), true)).toMatch(
      /^tests: this machine has all that they need; .* \d+ minutes /,
    );
    expect(outlookLine(outlookWithout([]), false)).toBe('');
    expect(outlookLine(outlookWithout(['strace']), false)).toBe(
      'tests: this machine lacks strace (apt-get install strace); tests that need it are left out',
    );
  });
});
