import { expect, it } from 'vitest';
import { createRecentMedian } from '../../../src/sandboxes/pool/warm-pool.ts';

it('a recent median is the median of the last numbers, in any order', () => {
  const recent = createRecentMedian(3);
  expect(recent.median()).toBeNull();
  recent.add(100);
  expect(recent.median()).toBe(100);
  recent.add(2);
  expect(recent.median()).toBe(51);
  recent.add(10);
  expect(recent.median()).toBe(10);
  recent.add(3);
  expect(recent.median()).toBe(3);
});
