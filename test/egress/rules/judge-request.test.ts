import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import type { CheckedRule } from '../../../src/egress/rules/checked-rule.ts';
import { covers, requireCovered } from '../../../src/egress/rules/covers.ts';
import { judgeRequest, judgeTarget, type NetworkRequest } from '../../../src/egress/rules/judge-request.ts';
import { matchesPath } from '../../../src/egress/rules/matches-path.ts';
import { parseNetworkRule } from '../../../src/egress/rules/parse-network-rule.ts';
import { readAuthority } from '../../../src/egress/rules/read-authority.ts';

const rulesOf = (texts: readonly string[]): CheckedRule[] => texts.map((text) => parseNetworkRule(text));
const requestOf = (text: string, method = 'GET'): NetworkRequest => {
  const [, scheme, authority, path] = /^(https?):\/\/([^/]*)(.*)$/.exec(text) ?? [];
  const { host, port } = readAuthority(authority ?? '', scheme === 'http' ? 80 : 443) ?? { host: '', port: 0 };
  return { scheme: scheme as 'https', host, port, method, path: path ?? '' };
};
/** Text of the rule or the reason. */
const judged = (job: string[], operator: string[], request: NetworkRequest): string => {
  const judgement = judgeRequest({ job: rulesOf(job), operator: rulesOf(operator) }, request);
  return 'rule' in judgement ? judgement.rule.text : judgement.reason;
};

describe('judgeRequest()', () => {
  const JOB = ['GET,HEAD api.example.com/v1/**', 'POST api.example.com/v2/*', '*.example.org', 'http://build:8080'];
  it.each([
    ['GET', 'https://api.example.com/v1/a/b?q=/../', 'GET,HEAD api.example.com/v1/**'],
    ['GET', 'https://API.example.com.:443/v1', 'GET,HEAD api.example.com/v1/**'],
    ['HEAD', 'https://api.example.com/%76%31/', 'GET,HEAD api.example.com/v1/**'],
    ['POST', 'https://api.example.com/v2/a', 'POST api.example.com/v2/*'],
    ['DELETE', 'https://a.b.example.org/any', '*.example.org'],
    ['PROPFIND', 'http://build:8080/', 'http://build:8080'],
    ['GET', 'https://other.example.com/', 'host-not-allowed'],
    ['GET', 'https://example.org/', 'host-not-allowed'],
    ['GET', 'https://evilexample.org/', 'host-not-allowed'],
    ['GET', 'https://xample.org/', 'host-not-allowed'],
    ['GET', 'https://a.example.org.evil.net/', 'host-not-allowed'],
    ['GET', 'https://api.example.com.evil.org/v1', 'host-not-allowed'],
    ['GET', 'https://127.0.0.1/', 'host-not-allowed'],
    ['GET', 'https://api.example.com:8443/v1', 'port-not-allowed'],
    ['GET', 'http://api.example.com/v1', 'port-not-allowed'],
    ['GET', 'http://api.example.com:443/v1', 'scheme-not-allowed'],
    ['GET', 'https://build:8080/', 'scheme-not-allowed'],
    ['DELETE', 'https://api.example.com/v1', 'method-not-allowed'],
    ['get', 'https://api.example.com/v1', 'method-not-allowed'],
    ['CONNECT', 'https://a.example.org/', 'method-not-allowed'],
    ['TRACE', 'https://a.example.org/', 'method-not-allowed'],
    ['trace', 'https://a.example.org/', 'method-not-allowed'],
    ['GET ', 'https://a.example.org/', 'method-not-allowed'],
    ['', 'https://a.example.org/', 'method-not-allowed'],
    ['GET', 'https://api.example.com/v2/a', 'path-not-allowed'],
    ['POST', 'https://api.example.com/v1/a', 'path-not-allowed'],
    ['POST', 'https://api.example.com/v2/', 'path-not-allowed'],
    ['POST', 'https://api.example.com/v2/a/b', 'path-not-allowed'],
    ['GET', 'https://api.example.com/V1/a', 'path-not-allowed'],
    ['GET', 'https://api.example.com/v1/../v2', 'target-ambiguous'],
    ['GET', 'https://api.example.com/v1/%2e%2e/v2', 'target-ambiguous'],
    ['GET', 'https://api.example.com/v1/..%2fv2', 'target-ambiguous'],
    ['GET', 'https://a.example.org//', 'target-ambiguous'],
    ['OPTIONS', 'https://a.example.org', 'target-ambiguous'],
  ])('decides %s %s by %s', (method, url, outcome) => {
    expect(judged(JOB, ['*.example.com', ...JOB], requestOf(url, method))).toBe(outcome);
    // A wider list on the other side changes only the rule that allows.
    expect(judged(['*.example.com', ...JOB], JOB, requestOf(url, method)).replace('*.example.com', outcome)).toBe(
      outcome,
    );
  });

  it.each([
    [['a.example'], ['GET a.example/v1/**'], 'POST', '/v1/x', 'method-not-allowed'],
    [['a.example'], ['GET a.example/v1/**'], 'GET', '/v2', 'path-not-allowed'],
    [['a.example/v2'], ['POST a.example'], 'GET', '/v1', 'method-not-allowed'],
    [['POST a.example'], ['a.example/v2'], 'GET', '/v1', 'method-not-allowed'],
    [['a.example'], [], 'GET', '/', 'host-not-allowed'],
    [[], ['a.example'], 'GET', '/', 'host-not-allowed'],
    [['a.example', 'b.example'], ['*.b.example', 'a.example:8443'], 'GET', '/', 'port-not-allowed'],
    [['GET a.example/v1/**'], ['*.example.com', 'a.example'], 'GET', '/v1/x', 'GET a.example/v1/**'],
  ])('asks the rules %j of a job and %j of the operator about %s %s: %s', (job, operator, method, path, outcome) => {
    expect(judged(job, operator, requestOf(`https://a.example${path}`, method))).toBe(outcome);
  });

  it('does not join the method of one rule with the path of another', () => {
    const rules = ['GET a.example/public/**', 'POST a.example/inbox'];
    expect(judged(rules, ['a.example'], requestOf('https://a.example/public/x', 'POST'))).toBe('path-not-allowed');
    expect(judged(['a.example'], rules, requestOf('https://a.example/inbox', 'GET'))).toBe('path-not-allowed');
  });

  it.each([
    'evil.net/.example.org',
    'evil.net#.example.org',
    '@.example.org',
    '.example.org',
    'A.example.org',
    '[::1]',
  ])('passes no host such as %s that is not in its normal form', (host) => {
    const rules = rulesOf(['*.example.org', '[::1]']);
    const target = { scheme: 'https' as const, host, port: 443 };
    expect(judgeTarget({ job: rules, operator: rules }, target)).toBe('host-not-allowed');
  });

  it('passes only hosts of the rules, whatever the other rules and parts are', () => {
    const label = fc.constantFrom('a', 'b', 'com', 'example', 'evilexample', 'xample', 'c');
    const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
    const rule = fc.oneof(
      name,
      fc.tuple(name, label).map(([base, last]) => `*.${base}.${last}`),
    );
    fc.assert(
      fc.property(fc.array(rule), fc.array(rule), name, (job, operator, host) => {
        const request = { scheme: 'https' as const, host, port: 443, method: 'GET', path: '/' };
        const labels = host.split('.');
        const above = labels.map((_, index) => (index === 0 ? host : `*.${labels.slice(index).join('.')}`));
        const isAllowed = [job, operator].every((rules) => rules.some((text) => above.includes(text)));
        expect(judged(job, operator, request) === 'host-not-allowed').toBe(!isAllowed);
        expect(judgeTarget({ job: rulesOf(job), operator: rulesOf(operator) }, request)).toBe(
          isAllowed ? undefined : 'host-not-allowed',
        );
      }),
      { numRuns: 500 },
    );
  });

  it('passes addresses only as themselves', () => {
    const rules = ['127.0.0.1', '[::1]'];
    expect(judged(rules, rules, requestOf('https://127.0.0.1/'))).toBe('127.0.0.1');
    expect(judged(rules, rules, requestOf('https://[0:0::1]/'))).toBe('[::1]');
    for (const host of ['[::ffff:127.0.0.1]', '[::7f00:1]', '127.0.0.2', 'localhost', '127.1', 'a.127.0.0.1'])
      expect(judged(rules, rules, requestOf(`https://${host}/`))).toBe('host-not-allowed');
  });
});

describe('judgeTarget()', () => {
  it('takes the gate of the best rule', () => {
    const rules = rulesOf(['a.example:8443', 'http://a.example', 'GET b.example/x']);
    const reason = (url: string): string | undefined => judgeTarget({ job: rules, operator: rules }, requestOf(url));
    expect(reason('https://c.example')).toBe('host-not-allowed');
    expect(reason('https://a.example')).toBe('port-not-allowed');
    expect(reason('https://a.example:80')).toBe('scheme-not-allowed');
    expect(reason('https://a.example:8443')).toBeUndefined();
    expect(reason('https://b.example')).toBeUndefined();
  });
});

describe('covers()', () => {
  const ALLOW = ['api.example.com', '*.example.org', 'http://build:8080', '[::1]', 'GET one.example/v1'];
  it.each([
    ...[
      'api.example.com',
      'POST api.example.com/any',
      'a.example.org',
      'a.b.example.org',
      '*.example.org',
      '*.a.example.org',
    ],
    ...['http://build:8080', '[0::1]', 'POST one.example/v2'],
  ])('holds for %s', (wanted) => {
    expect(covers(rulesOf(ALLOW), parseNetworkRule(wanted))).toBe(true);
    requireCovered(rulesOf(ALLOW), parseNetworkRule(wanted));
  });

  it.each([
    ...[
      'example.org',
      'evilexample.org',
      '*.evilexample.org',
      '*.api.example.com',
      '*.example.com',
      'a.example.org:8443',
    ],
    ...[
      'http://api.example.com',
      'http://api.example.com:443',
      'build:8080',
      'http://build',
      '127.0.0.1',
      'example.com',
    ],
  ])('does not hold for %s', (wanted) => {
    expect(covers(rulesOf(ALLOW), parseNetworkRule(wanted))).toBe(false);
    expect(() => requireCovered(rulesOf(ALLOW), parseNetworkRule(wanted))).toThrow('is not in network.allow');
  });

  it('fails with the place and the rule', () => {
    let error: SkillcellError | undefined;
    try {
      requireCovered([], parseNetworkRule('GET *.example.com:8443/v1'));
    } catch (thrown) {
      error = thrown as SkillcellError;
    }
    expect(error?.code).toBe('network.not-allowed');
    expect(error?.entry).toMatchObject({ http: 403, exitCode: 2 });
    expect(error?.message).toBe(
      'Cannot give the job a network: https://*.example.com:8443 is not in network.allow, got "GET *.example.com:8443/v1".',
    );
  });

  it('holds only if the operator passes each target of the wanted rule', () => {
    const label = fc.constantFrom('a', 'b', 'c');
    const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
    const rule = fc.tuple(fc.constantFrom('', '*.'), name).map(([star, base]) => `${star}${base}`);
    fc.assert(
      fc.property(fc.array(rule), rule, name, (allow, wanted, host) => {
        const [job, operator] = [rulesOf([wanted]), rulesOf(allow)];
        fc.pre(covers(operator, job[0]!));
        const target = { scheme: 'https' as const, host, port: 443 };
        const isWanted = judgeTarget({ job, operator: job }, target) === undefined;
        expect(judgeTarget({ job, operator }, target) === undefined).toBe(isWanted);
      }),
    );
  });
});

describe('matchesPath()', () => {
  it.each([
    ['/**', '/', true],
    ['/**', '/a/b/', true],
    ['/', '/', true],
    ['/', '/a', false],
    ['/a', '/a/', false],
    ['/a/', '/a', false],
    ['/a/*', '/a/', false],
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/b/', false],
    ['/a/**', '/a', true],
    ['/a/**', '/ab', false],
    ['/**/info/refs', '/a/b.git/info/refs', true],
    ['/**/info/refs', '/info/refs', true],
    ['/**/info/refs', '/info/refs/x', false],
    ['/a/**/b/**/c', '/a/x/b/b/y/c', true],
    ['/a/**/b/**/c', '/a/x/c', false],
  ])('of %s and %s is %s', (pattern, path, matches) => {
    expect(matchesPath(pattern, path)).toBe(matches);
  });

  it('agrees with a search through all possibilities', () => {
    const oracle = ([first, ...rest]: string[], given: string[]): boolean => {
      if (first === undefined) return given.length === 0;
      if (first === '**') return given.concat('').some((_, index) => oracle(rest, given.slice(index)));
      const [next, ...others] = given;
      return next !== undefined && (first === next || (first === '*' && next !== '')) && oracle(rest, others);
    };
    const pattern = fc.array(fc.constantFrom('a', 'b', '*', '**', '**'), { maxLength: 7 });
    const path = fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 });
    fc.assert(
      fc.property(pattern, path, fc.boolean(), (wanted, given, hasSlash) => {
        const segments = hasSlash ? [...given, ''] : given;
        expect(matchesPath(`/${wanted.join('/')}`, `/${segments.join('/')}`)).toBe(
          oracle(`/${wanted.join('/')}`.split('/'), `/${segments.join('/')}`.split('/')),
        );
      }),
      { numRuns: 3_000 },
    );
  });

  it('ends soon for patterns that make a backtracking search exponential', () => {
    expect(matchesPath(`/${'**/a/'.repeat(60)}b`, `/${'a/'.repeat(8_000)}c`)).toBe(false);
  });
});
