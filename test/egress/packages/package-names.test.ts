import { describe, expect, test } from 'vitest';
import { isNamePattern, matchesName, normalName } from '../../../src/egress/packages/package-names.ts';

describe('matchesName()', () => {
  test.for([
    ['npm', '*', 'is-odd', true],
    ['npm', '*', '@acme/tool', true],
    ['npm', '@acme/*', '@acme/tool', true],
    ['npm', '@acme/*', '@acme-evil/tool', false],
    ['npm', '@acme/*', 'tool', false],
    ['npm', '@*/tool', '@acme/tool', true],
    ['npm', 'is-*', 'is-odd', true],
    ['npm', 'is-*', 'this-odd', false],
    ['npm', '*-odd', '@acme/is-odd', false],
    ['npm', 'a*b*c', 'a-b-b-c', true],
    ['npm', 'a*b*c', 'acb', false],
    ['npm', 'aa*aa', 'aaa', false],
    ['npm', 'is-odd', 'Is-Odd', false],
    ['npm', 'is-odd', 'is-odd', true],
    ['npm', 'is-odd', 'is-odd-more', false],
    ['pypi', 'Tiny_Pkg', 'tiny.pkg', true],
    ['pypi', 'tiny-*', 'Tiny__other', true],
    ['pypi', 'tiny', 'tinypkg', false],
  ] as const)('of %s: %s for %s is %s', ([kind, pattern, name, matches]) => {
    expect(matchesName(kind, pattern, name)).toBe(matches);
  });
});

test('names of Python have one form', () => {
  expect(normalName('pypi', 'Foo._-Bar')).toBe('foo-bar');
});

test('a pattern is a name with stars', () => {
  expect(['*', 'a*', '@a/*', '@*/b'].every((pattern) => isNamePattern('npm', pattern))).toBe(true);
  expect(['', '/', 'a/b', '@a', 'a b', '../*', '-a'].some((pattern) => isNamePattern('npm', pattern))).toBe(false);
  expect(isNamePattern('pypi', '@a/*')).toBe(false);
});
