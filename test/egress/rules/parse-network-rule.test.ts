import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import type { NetworkRule } from '../../../src/contracts/network/network-rule.ts';
import { describeRules } from '../../../src/egress/rules/describe-rules.ts';
import { parseNetworkRule } from '../../../src/egress/rules/parse-network-rule.ts';

const refusal = (given: unknown): string => {
  try {
    return `accepted as ${parseNetworkRule(given as NetworkRule).text}`;
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    const { http, exitCode } = error.entry;
    return `${error.code} ${http} ${exitCode} ${error.message}`;
  }
};

describe('parseNetworkRule()', () => {
  it.each([
    ['api.example.com', { host: 'api.example.com', below: false, scheme: 'https', port: 443 }],
    ['GET,HEAD *.example.com/v1/**', { host: 'example.com', below: true, methods: ['GET', 'HEAD'], paths: ['/v1/**'] }],
    ['http://build.example:8080', { host: 'build.example', scheme: 'http', port: 8080 }],
    ['http://build.example', { scheme: 'http', port: 80, text: 'http://build.example' }],
    ['https://API.Example.COM.:443', { host: 'api.example.com', text: 'api.example.com' }],
    ['bücher.example', { host: 'xn--bcher-kva.example', text: 'xn--bcher-kva.example' }],
    ['*.bücher.example.', { host: 'xn--bcher-kva.example', below: true, text: '*.xn--bcher-kva.example' }],
    ['*.co.uk', { host: 'co.uk', below: true }],
    ['build', { host: 'build', below: false }],
    ['_dmarc.example.com', { host: '_dmarc.example.com' }],
    ['10.1.2.3:8443', { host: '10.1.2.3', port: 8443 }],
    ['[2001:DB8:0:0::1]:8443/x', { host: '2001:db8::1', text: '[2001:db8::1]:8443/x' }],
    ['a.example/%7Eme/%c3%a4/%2A', { paths: ['/~me/%C3%A4/%2A'] }],
    ['PROPFIND,M-SEARCH a.example/', { methods: ['PROPFIND', 'M-SEARCH'], paths: ['/'] }],
    ['GET,GET a.example', { methods: ['GET'], text: 'GET a.example' }],
  ])('reads %s', (text, rule) => {
    expect(parseNetworkRule(text)).toMatchObject(rule);
  });

  it.each([
    [{ host: '::1' }, '[::1]'],
    [{ host: '[::1]' }, '[::1]'],
    [{ host: '::ffff:127.0.0.1', port: 8443 }, '[::ffff:7f00:1]:8443'],
    [{ host: 'a.example', scheme: 'http' as const }, 'http://a.example'],
    [{ host: 'a.example', scheme: 'http' as const, port: 443 }, 'http://a.example:443'],
    [{ host: 'a.example', port: 80 }, 'a.example:80'],
    [
      { host: '*.a.example', methods: ['GET'], paths: ['/a/**', '/%61/**', '/b', '/c'] },
      'GET *.a.example/a/** and 2 more',
    ],
  ])('reads the fields %o as %s', (given, text) => {
    expect(parseNetworkRule(given).text).toBe(text);
  });

  it('leaves out the methods and paths of a rule that allows all', () => {
    expect(Object.keys(parseNetworkRule({ host: 'a.example' }))).toEqual(['text', 'scheme', 'host', 'below', 'port']);
  });

  it.each([
    ...[
      '*',
      '*.com',
      '*.com.',
      'a.*.com',
      '*x.com',
      '**.example.com',
      '*.*.com',
      '*.1.2.3.4',
      '*.3.4',
      '*.[::1]',
      '*.',
    ],
    ...['＊.example.com', 'api.*', '*.localhost', '*.example..com'],
  ])('refuses the wildcard of %s', (text) => {
    expect(refusal(text)).toMatch(/^network\.rule-invalid 400 2 Cannot use the network rule: .*, got ".*"\.$/);
  });

  it.each([
    ...['2130706433', '0x7f.1', '127.1', '0177.0.0.1', '①②⑦.0.0.1', '127.0.0.1.', '1.2.3', '0x', 'a.1', '256.1.1.1'],
    ...['user@a.example', 'a.example?q', 'a.example#f', 'a%41.example', 'a\\b.example', 'a..example', '.a', 'a..', ''],
    ...['[::1', '::1', '[::1%25eth0]', '[::1%eth0]', '[1.2.3.4]', '[]', `${'a'.repeat(64)}.example`, 'a／b.example'],
    ...[`${'a.'.repeat(126)}ab`, 'a\tb.example', 'a\u0000b', 'a，b.example', 'a\u3000b.example', 'a\nb.example'],
  ])('refuses the host of %j', (text) => {
    expect(refusal(text)).toMatch(/^network\.rule-invalid 400 2 Cannot use the network rule: /);
    expect(refusal({ host: text })).toMatch(text === '::1' ? /^accepted/ : /^network\.rule-invalid/);
  });

  it.each([
    ['a.example:0', 'no port from 1 to 65535'],
    ['a.example:65536', 'no port from 1 to 65535'],
    ['a.example:080', 'no port from 1 to 65535'],
    ['a.example:', 'no port from 1 to 65535'],
    ['ftp://a.example', 'no port'],
    ['HTTP://a.example', 'no port'],
    [' a.example', '"" is not a method'],
    ['a.example ', 'its host is neither a name nor an address'],
    ['GET  a.example', 'it does not read'],
    ['GET, HEAD a.example', 'it does not read'],
    ['get a.example', '"get" is not a method in capitals'],
    ['GET,,HEAD a.example', '"" is not a method'],
    ['CONNECT a.example', '"CONNECT" is not a method that a rule can allow'],
    ['GET,TRACE a.example', '"TRACE" is not a method that a rule can allow'],
    ['GET;X a.example', '"GET;X" is not a method'],
    ['a.example/v*', 'has a `*` that is not a whole segment'],
    ['a.example/***', 'has a `*` that is not a whole segment'],
    ['a.example/a/../b', 'has a dot segment'],
    ['a.example/a//b', 'has an empty segment'],
    ['a.example/%2e', 'has an encoded dot'],
    ['a.example/a%2Fb', 'has an encoded slash'],
    ['a.example/ä', 'a character that is not ASCII'],
    ['a.example/a b', 'is not a method'],
    ['a.example/?q', 'has a query'],
    ['a.example/#f', 'a number sign'],
  ])('refuses %s because %s', (text, reason) => {
    expect(refusal(text)).toContain(reason);
    expect(refusal(text)).toMatch(/^network\.rule-invalid /);
  });

  it.each([
    [
      { host: 'a.example', prot: 1 },
      'Cannot use the network rule "a.example": there is no field prot, got 1. Did you mean port?',
    ],
    [
      { host: 'a.example', port: 0 },
      'Cannot use the network rule "a.example": port must be a whole number from 1 to 65535, got 0.',
    ],
    [{ host: 'a.example', scheme: 'ftp' }, 'scheme must be one of https, http, got "ftp".'],
    [{ host: 'a.example', methods: [] }, 'methods must be a list that is not empty, got a list of 0.'],
    [{ host: 'a.example', paths: [] }, 'paths must be a list that is not empty, got a list of 0.'],
    [
      { host: 'a.example', paths: ['v1'] },
      'its path "v1" has no slash at its start, got {"host":"a.example","paths":["v1"]}.',
    ],
    [{ host: 'a.example', methods: [''] }, '"" is not a method in capitals, got {"host":"a.example","methods":[""]}.'],
    [{}, 'Cannot use the network rule: host is missing: it must be a text.'],
    [null, 'Cannot use the network rule: the rule must be an object, got null.'],
    [5, 'the rule must be an object, got 5.'],
  ])('refuses %j and names the fault', (given, message) => {
    expect(refusal(given)).toContain(message);
    expect(refusal(given)).toMatch(/^network\.rule-invalid 400 2 /);
  });

  it('refuses rules that are too long', () => {
    const paths = Array.from({ length: 1_001 }, (_, index) => `/${index}`);
    expect(parseNetworkRule({ host: 'a.example', paths: paths.slice(1) }).paths).toHaveLength(1_000);
    expect(refusal({ host: 'a.example', paths })).toContain('paths must be a list with at most 1000 entries');
    expect(refusal({ host: 'a'.repeat(1_001) })).toContain('host must be a text with at most 1000 characters');
    expect(refusal({ host: 'a.example', paths: ['a'.repeat(401)] })).toContain('with at most 400 characters');
    expect(refusal(`a.example/${'a'.repeat(400)}`)).toContain('has more than 400 characters');
    expect(refusal('a'.repeat(1_001))).toContain('it has more than 1000 characters');
  });

  it('shows no invisible characters of a refused rule', () => {
    expect(refusal('\u202e.\u0000')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(refusal({ host: 'a\u202eb c' })).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  const label = fc.stringMatching(/^[a-zA-Z_ü]{1,8}$/);
  const host = fc.oneof(
    fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
    fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => `*.${labels.join('.')}`),
    fc.ipV4(),
    fc.ipV6(),
  );
  const optional = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(some, { nil: undefined });
  const segment = fc.oneof(
    fc.constantFrom('*', '**', '%C3%A4', '%7e', '%2a', ';a=1'),
    fc.stringMatching(/^[a-z-]{1,5}$/),
  );
  const fields = fc.record({
    host,
    port: optional(fc.integer({ min: 1, max: 65_535 })),
    scheme: optional(fc.constantFrom('https' as const, 'http' as const)),
    methods: optional(fc.array(fc.constantFrom('GET', 'POST', 'M-SEARCH'), { minLength: 1 })),
    paths: optional(fc.array(segment, { maxLength: 5 }).map((segments) => [`/${segments.join('/')}`])),
  });

  it('reads the text of a rule as the same rule', () => {
    fc.assert(
      fc.property(fields, (given) => {
        fc.pre(!/\/;/.test(given.paths?.[0] ?? ''));
        const rule = parseNetworkRule(given as NetworkRule);
        expect(parseNetworkRule(rule.text)).toEqual(rule);
        expect(structuredClone(rule)).toEqual(rule);
      }),
    );
  });

  it('refuses or reads every text, and never fails in another way', () => {
    const text = fc.array(
      fc.oneof(
        fc.constantFrom('*', '.', ':', '/', '[', ']', '@', '%', ' ', ',', 'GET', 'a', '1', 'xn--', '。'),
        fc.string(),
      ),
    );
    fc.assert(
      fc.property(text, (parts) => {
        expect(refusal(parts.join(''))).toMatch(/^(?:accepted|network\.rule-invalid)/);
        expect(refusal({ host: parts.join('') })).toMatch(/^(?:accepted|network\.rule-invalid)/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('describeRules()', () => {
  it('has a line for each method list and path, without repetitions', () => {
    const rules = ['GET,HEAD api.example.com/v1/**', 'http://*.b.example:8080', 'http://*.b.example:8080', '[::1]'];
    const more = { host: 'c.example', paths: ['/a', '/b'] };
    expect(describeRules([...rules, more].map(parseNetworkRule))).toEqual([
      'GET, HEAD https://api.example.com/v1/**',
      'http://*.b.example:8080',
      'https://[::1]',
      'https://c.example/a',
      'https://c.example/b',
    ]);
  });

  it('counts the lines beyond the first twenty', () => {
    const rules = Array.from({ length: 22 }, (_, index) => parseNetworkRule(`h${index}.example`));
    expect(describeRules(rules.slice(0, 20))).toHaveLength(20);
    expect(describeRules(rules).slice(19)).toEqual(['https://h19.example', 'and 2 more']);
  });
});
