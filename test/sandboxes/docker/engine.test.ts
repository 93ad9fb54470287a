import { expect, it } from 'vitest';
import { isGone } from '../../../src/sandboxes/docker/engine/engine.ts';

const answered = (statusCode?: number): Error => Object.assign(new Error('refused'), { statusCode });

it.each([
  [404, true],
  [409, true],
  [400, false],
  [500, false],
  [undefined, false],
])('isGone() of the status %j is %j, also in a cause', (status, gone) => {
  expect(isGone(answered(status))).toBe(gone);
  expect(isGone(new Error('Cannot remove it.', { cause: answered(status) }))).toBe(gone);
});
