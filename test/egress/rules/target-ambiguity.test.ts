import { describe, expect, it } from 'vitest';
import { ambiguousHeader } from '../../../src/egress/rules/ambiguous-header.ts';
import { targetAmbiguity } from '../../../src/egress/rules/target-ambiguity.ts';

describe('targetAmbiguity()', () => {
  it.each([
    ['/.', 'a dot segment'],
    ['/..', 'a dot segment'],
    ['/a/./b', 'a dot segment'],
    ['/a/../b', 'a dot segment'],
    ['/a/..?q', 'a dot segment'],
    ['/a/..;/b', 'a dot segment'],
    ['/a/.;x=1/b', 'a dot segment'],
    ['/a/..%3b/b', 'a dot segment'],
    ['/a/%2e%2E/b', 'an encoded dot'],
    ['/a/.%2e/b', 'an encoded dot'],
    ['/file%2ejs', 'an encoded dot'],
    ['/a%2fb', 'an encoded slash or backslash'],
    ['/a%2Fb', 'an encoded slash or backslash'],
    ['/a/..%5cb', 'an encoded slash or backslash'],
    ['/a\\b', 'a backslash, or a character that is not ASCII'],
    ['/\u00e4', 'a backslash, or a character that is not ASCII'],
    ['//', 'an empty segment'],
    ['//a', 'an empty segment'],
    ['/a//b', 'an empty segment'],
    ['/a//', 'an empty segment'],
    ['/a/;/b', 'an empty segment'],
    ['/a/;x', 'an empty segment'],
    ['/a#b', 'a space, a control character or a number sign'],
    ['/a?b#c', 'a space, a control character or a number sign'],
    ['/a b', 'a space, a control character or a number sign'],
    ['/a\tb', 'a space, a control character or a number sign'],
    ['/a?b\r\nc', 'a space, a control character or a number sign'],
    ['/a\u007f', 'a space, a control character or a number sign'],
    ['/a%00.png', 'an encoded control character'],
    ['/a%0d%0Ab', 'an encoded control character'],
    ['/a%1fb', 'an encoded control character'],
    ['/a%7f', 'an encoded control character'],
    ['/%', 'an encoding that is not UTF-8'],
    ['/%4', 'an encoding that is not UTF-8'],
    ['/%zz', 'an encoding that is not UTF-8'],
    ['/%u002e', 'an encoding that is not UTF-8'],
    ['/%c0%ae%c0%ae/b', 'an encoding that is not UTF-8'],
    ['/%e0%80%ae', 'an encoding that is not UTF-8'],
    ['/%ff', 'an encoding that is not UTF-8'],
    ['/%252e%252e/b', 'a twofold encoding'],
    ['/a%252fb', 'a twofold encoding'],
    ['/a/..%253b/b', 'a twofold encoding'],
    ['/a%25252fb', 'a twofold encoding'],
    ['/%25%32%65', 'a twofold encoding'],
    ['/%%32e', 'an encoding that is not UTF-8'],
    ['/%25%2532%2565', 'a twofold encoding'],
    ['', 'no slash at its start'],
    ['*', 'no slash at its start'],
    ['a/b', 'no slash at its start'],
    ['?/a', 'no slash at its start'],
    ['https://a.example/', 'no slash at its start'],
  ])('finds in %j %s', (target, found) => {
    expect(targetAmbiguity(target)).toBe(found);
  });

  it.each([
    ...[
      '/',
      '/a',
      '/a/',
      '/a/b.c',
      '/.well-known/x',
      '/...',
      '/..a/b',
      '/a..',
      '/%C3%A4/%20',
      '/a;v=1/b',
      '/~a,b:c@d+e=f',
    ],
    ...[
      '/100%25',
      '/100%25/x',
      '/5%25%20off',
      '/%25zz',
      '/?a=//../%2e%2f\\',
      '/a?x=%zz',
      '/a?\u00e4',
      '/(a)[b]{c}|"<>^`',
    ],
  ])('finds nothing in %j', (target) => {
    expect(targetAmbiguity(target)).toBeUndefined();
  });

  it('judges long targets', () => {
    for (const part of ['%25', '%2525', '/a', ';', '.%', '%c3'])
      expect(typeof targetAmbiguity(`/${part.repeat(50_000)}`)).toMatch(/string|undefined/);
  });
});

describe('ambiguousHeader()', () => {
  it.each([
    [['Host', 'a', 'host', 'a'], 'host'],
    [['Content-Length', '1', 'Accept', 'x', 'content-length', '2'], 'content-length'],
    [['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'identity'], 'transfer-encoding'],
    [['Content-Type', 'a/b', 'Content_Type', 'c/d'], 'content_type'],
    [['Authorization', 'a', 'AUTHORIZATION', 'b'], 'authorization'],
    [['Cookie', 'a=1', 'Cookie', 'b=2'], 'cookie'],
    [['Range', 'bytes=0-1', 'Range', 'bytes=2-3'], 'range'],
    [['X-Amz-Content-Sha256', 'a', 'x-amz-content-sha256', 'b'], 'x-amz-content-sha256'],
    [['X-My-Token', 'a', 'x-my-token', 'b'], 'x-my-token'],
    [['x_my_token', 'a', 'X-My-Token', 'b'], 'x-my-token'],
  ])('finds the header of %j', (headers, found) => {
    expect(ambiguousHeader(headers, new Set(['X-My_Token']))).toBe(found);
  });

  it('lets headers with several values stand twice, and looks at names only', () => {
    expect(ambiguousHeader(['Accept', 'a', 'Accept', 'b', 'X-My-Token', 'a', 'X-My-Token', 'b'])).toBeUndefined();
    expect(ambiguousHeader(['Host', 'host', 'X-A', 'host'])).toBeUndefined();
    expect(ambiguousHeader([])).toBeUndefined();
  });
});
