import { describe, expect, test } from 'vitest';
import { judgePackageRequest } from '../../../src/egress/packages/judge-package-request.ts';
import type { PackageRegistry, RegistryPlace } from '../../../src/egress/packages/package-registry.ts';

const place = (host: string, path: string, more: Partial<RegistryPlace> = {}): RegistryPlace => {
  return { scheme: 'https', host, port: 443, path, scopes: [], isDefault: false, ...more };
};
const main = place('npm.test', '/', { isDefault: true });
const acme = place('private.test', '/npm/', { scopes: ['@acme'] });
const below = place('npm.test', '/other/', { scopes: ['@below'] });
const index = place('pypi.test', '/root/', { isDefault: true, index: '/root/simple/' });
const files = place('files.test', '/packages/', { isDefault: true });
const registries: PackageRegistry[] = [
  { kind: 'npm', names: ['is-*', '@acme/*', '@below/*', '@types/node', 'download'], places: [main, acme, below] },
  { kind: 'pypi', names: ['tiny-*'], places: [index, files] },
];
const judged = (url: string, method = 'GET', hasBody = false): string => {
  const { hostname, protocol, port } = new URL(url);
  const path = url.slice(url.indexOf('/', 8));
  const request = {
    scheme: protocol === 'https:' ? 'https' : 'http',
    host: hostname,
    port: Number(port || 443),
    method,
    path,
  } as const;
  const verdict = judgePackageRequest(registries, request, hasBody);
  if (verdict === undefined) return 'elsewhere';
  return 'reason' in verdict ? verdict.reason : `${verdict.place.host}${verdict.place.path}`;
};

describe('judgePackageRequest()', () => {
  test.for([
    ['https://npm.test/is-odd', 'npm.test/'],
    ['https://npm.test/is-odd/3.0.1', 'npm.test/'],
    ['https://npm.test/is-odd/-/is-odd-3.0.1.tgz', 'npm.test/'],
    ['https://npm.test/@types%2fnode', 'npm.test/'],
    ['https://npm.test/@types%2Fnode', 'npm.test/'],
    ['https://npm.test/@types/node', 'npm.test/'],
    ['https://npm.test/@types/node/-/node-1.0.0.tgz', 'npm.test/'],
    ['https://npm.test/@types/node/-/@types/node-1.0.0.tgz', 'npm.test/'],
    ['https://npm.test/download/@types/node/1.0.0/abc', 'npm.test/'],
    ['https://private.test/npm/@acme%2ftool', 'private.test/npm/'],
    ['https://npm.test/other/@below%2ftool', 'npm.test/other/'],
    ['https://pypi.test/root/simple/tiny-pkg/', 'pypi.test/root/'],
    ['https://pypi.test/root/simple/Tiny.Pkg', 'pypi.test/root/'],
    ['https://pypi.test/root/packages/ab/tiny_pkg-1.0-py3-none-any.whl', 'pypi.test/root/'],
    [
      'https://files.test/packages/ab/cd/tiny_pkg-1.0%2Bcpu-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl',
      'files.test/packages/',
    ],
    ['https://files.test/packages/ab/tiny_pkg-1.0-py3-none-any.whl.metadata', 'files.test/packages/'],
  ] as const)('passes %s', ([url, expected]) => {
    expect(judged(url)).toBe(expected);
    expect(judged(url, 'HEAD')).toBe(expected);
    expect(judged(url, 'PUT')).toBe('method-not-allowed');
    expect(judged(url, 'POST')).toBe('method-not-allowed');
    expect(judged(url, 'GET', true)).toBe('method-not-allowed');
  });

  test.for([
    ['https://npm.test/left-pad', 'package-not-allowed'],
    ['https://npm.test/left-pad/-/left-pad-1.0.0.tgz', 'package-not-allowed'],
    // The file of another package.
    ['https://npm.test/is-odd/-/left-pad-1.0.0.tgz', 'path-not-allowed'],
    // A scope with a registry of its own is asked nowhere else, and that registry for nothing else.
    ['https://npm.test/@acme%2ftool', 'package-not-allowed'],
    ['https://npm.test/@below%2ftool', 'package-not-allowed'],
    ['https://private.test/npm/is-odd', 'package-not-allowed'],
    ['https://private.test/npm/@types%2fnode', 'package-not-allowed'],
    ['https://npm.test/other/is-odd', 'package-not-allowed'],
    ['https://npm.test/', 'path-not-allowed'],
    ['https://npm.test/-/ping', 'path-not-allowed'],
    ['https://npm.test/-/whoami', 'path-not-allowed'],
    ['https://npm.test/-/v1/search?text=is-odd', 'path-not-allowed'],
    ['https://npm.test/-/npm/v1/security/advisories/bulk', 'path-not-allowed'],
    ['https://npm.test/-/package/is-odd/dist-tags', 'path-not-allowed'],
    ['https://npm.test/is-odd?write=true', 'path-not-allowed'],
    ['https://npm.test/is-odd/../left-pad', 'path-not-allowed'],
    ['https://npm.test/is-odd/-/../../left-pad/-/is-odd-1.tgz', 'path-not-allowed'],
    ['https://npm.test/is-odd%2f..%2fleft-pad', 'path-not-allowed'],
    ['https://npm.test/@types%2f..%2fis-odd', 'path-not-allowed'],
    ['https://npm.test/@types%2fnode%2f-%2fx.tgz', 'path-not-allowed'],
    ['https://npm.test/%69s-odd', 'path-not-allowed'],
    ['https://npm.test//is-odd', 'path-not-allowed'],
    ['https://npm.test/is-odd;a=1', 'path-not-allowed'],
    ['https://npm.test/is-odd/-rev/1', 'path-not-allowed'],
    ['https://npm.test/is-odd/', 'path-not-allowed'],
    ['https://pypi.test/root/simple/', 'path-not-allowed'],
    ['https://pypi.test/root/simple/other/', 'package-not-allowed'],
    ['https://pypi.test/root/packages/ab/other-1.0-py3-none-any.whl', 'package-not-allowed'],
    // A source archive runs its own code when it is installed.
    ['https://pypi.test/root/packages/ab/tiny_pkg-1.0.tar.gz', 'path-not-allowed'],
    ['https://files.test/packages/ab/tiny_pkg-1.0.zip', 'path-not-allowed'],
    ['https://files.test/packages/ab/tiny_pkg-1.0-py3-none-any.whl?x=1', 'path-not-allowed'],
    ['https://pypi.test/root/anything', 'path-not-allowed'],
    ['https://pypi.test/other', 'elsewhere'],
    ['https://files.test/other', 'elsewhere'],
    ['https://npm.test:8443/is-odd', 'elsewhere'],
    ['http://npm.test:443/is-odd', 'elsewhere'],
    ['https://private.test/other/@acme%2ftool', 'elsewhere'],
    ['https://evil.test/is-odd', 'elsewhere'],
  ] as const)('%s: %s', ([url, expected]) => {
    expect(judged(url)).toBe(expected);
  });

  test('without registries every place is another one', () => {
    const request = { scheme: 'https', host: 'npm.test', port: 443, method: 'GET', path: '/is-odd' } as const;
    expect(judgePackageRequest([], request, false)).toBeUndefined();
  });
});
