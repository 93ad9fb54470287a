import { expect, test } from 'vitest';
import { ownsProcessNamespace } from '../../../runtime/sandbox/privileges.ts';

// Not tried with a real container: without this check its supervisor would end every process of this machine.
test('a supervisor takes no privileges if its first process is the host’s', () => {
  expect(ownsProcessNamespace(1, 0)).toBe(true);
  expect(ownsProcessNamespace(7, 1)).toBe(true);
  expect(ownsProcessNamespace(4711, 4700)).toBe(false);
});
