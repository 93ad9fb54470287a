import fc from 'fast-check';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relativePathFault } from '../../src/contracts/text/relative-path.ts';

describe('relativePathFault()', () => {
  it.each([
    'a',
    'a/b.txt',
    '-rf',
    '__proto__',
    '..a',
    'a..',
    '...',
    ' a ',
    'naïve/漢字.csv',
    'a:b',
    '~',
    '%2e%2e',
    'x'.repeat(255),
  ])('D10 takes %s', (path) => {
    expect(relativePathFault(path)).toBeUndefined();
  });

  it.each([
    ['', 'empty path'],
    ['/etc/passwd', 'absolute'],
    ['..', '..'],
    ['../a', '..'],
    ['a/../b', '..'],
    ['a/..', '..'],
    ['./a', '. or ..'],
    ['a//b', 'empty component'],
    ['a/', 'empty component'],
    ['a\\b', 'backslash'],
    ['..\\..\\x', 'backslash'],
    ['a\nb', 'control'],
    ['a\u001b[31m', 'control'],
    ['a\0b', 'control'],
    ['a\u0085b', 'control'],
    ['\ud800', 'UTF-8'],
    ['a\ufffd', 'UTF-8'],
    ['x'.repeat(256), '255'],
    ['é'.repeat(128), '255'],
    [Array.from({ length: 65 }, () => 'a').join('/'), 'deeper'],
    [Array.from({ length: 60 }, () => 'a'.repeat(100)).join('/'), '4,096'],
  ])('D10, D11 refuses %j', (path, reason) => {
    expect(relativePathFault(path)).toContain(reason);
  });

  it('D11 refuses every path that leaves its folder', () => {
    const part = fc.oneof(fc.constantFrom('..', '.', '', '/', '\\', '\0', 'a'), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const path = parts.join('/');
        if (relativePathFault(path) !== undefined) return;
        expect(resolve('/root/folder', path)).toBe(join('/root/folder', path));
        expect(resolve('/root/folder', path).startsWith('/root/folder/')).toBe(true);
      }),
    );
  });
});
