import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostText } from '../../../src/egress/rules/canonical-host.ts';
import { readAuthority } from '../../../src/egress/rules/read-authority.ts';

describe('readAuthority()', () => {
  it.each([
    ['example.com', 'example.com', 443],
    ['EXAMPLE.com.:8443', 'example.com', 8443],
    ['a_b.example:1', 'a_b.example', 1],
    ['XN--Bcher-Kva.example', 'xn--bcher-kva.example', 443],
    ['localhost:65535', 'localhost', 65_535],
    ['127.0.0.1:80', '127.0.0.1', 80],
    ['[::1]', '::1', 443],
    ['[2001:DB8::0:1]:8443', '2001:db8::1', 8443],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1', 443],
  ])('reads %s', (text, host, port) => {
    expect(readAuthority(text, 443)).toEqual({ host, port });
  });

  it.each([
    ...['', '.', '..', 'a..', '.a', 'a..b', ':443', 'user@a.example', 'user:pw@a.example', 'a.example/', 'a.example?x'],
    ...['a.example#x', 'a\\b', 'a b', ' a', 'a ', 'a\tb', 'a\0', 'a\r\n', 'a%2eb', 'a,b', 'a*b', '*.a.example', 'a;b'],
    ...[
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '127.1',
      '017700000001',
      '0177.0.0.1',
      '127.0.0.01',
      '127.0.0.1.',
      '1.2.3',
    ],
    ...[
      'a.1',
      '256.0.0.1',
      '1.2.3.4.5',
      '0',
      '::1',
      '[::1',
      '::1]',
      '[::1]x',
      '[::1%25eth0]',
      '[::1%eth0]',
      '[]',
      '[a]',
    ],
    ...[
      'a:',
      'a:0',
      'a:080',
      'a:65536',
      'a:99999',
      'a:-1',
      'a:+1',
      'a:1e3',
      'a:0x1',
      'a:1:2',
      'a:443 ',
      'a: 443',
      'a::1',
    ],
    ...[
      'bücher.example',
      'a\u00ad.example',
      'b\u00fccher.example',
      '①②⑦.0.0.1',
      'a。example',
      'ｅxample.com',
      '\u212a.com',
    ],
    ...[`${'a'.repeat(64)}.example`, `${'a.'.repeat(126)}ab`, 'https://a.example', '"a"', '<a>', 'a|b', 'a^b'],
  ])('does not read %j', (text) => {
    expect(readAuthority(text, 443)).toBeUndefined();
  });

  it('takes names of 253 characters and labels of 63', () => {
    const name = `${'a'.repeat(63)}.${'a.'.repeat(94)}a`;
    expect(name).toHaveLength(253);
    expect(readAuthority(`${name}.`, 1)).toEqual({ host: name, port: 1 });
    expect(readAuthority(`a${name.slice(62)}a`, 1)?.host).toBeDefined();
    expect(readAuthority(`${name}a.a`, 1)).toBeUndefined();
  });

  it('reads its own result as the same host, and as the URL parser does', () => {
    const part = fc.constantFrom(
      'a',
      'B',
      '1',
      '.',
      '-',
      '_',
      ':',
      '0x',
      'xn--',
      '[',
      ']',
      '127.0.0.1',
      '80',
      '%',
      '@',
      'é',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const text = parts.join('');
        const read = readAuthority(text, 443);
        if (read === undefined) return;
        const url = URL.parse(`https://${text}/`);
        expect(url?.hostname.replace(/\.$/, '')).toBe(hostText(read.host));
        expect(Number(url?.port === '' ? 443 : url?.port)).toBe(read.port);
        expect(readAuthority(`${hostText(read.host)}:${read.port}`, 1)).toEqual(read);
      }),
      { numRuns: 2_000 },
    );
  });
});
