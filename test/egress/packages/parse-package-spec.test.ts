import { describe, expect, test } from 'vitest';
import { parsePackageSpec } from '../../../src/egress/packages/parse-package-spec.ts';

describe('parsePackageSpec()', () => {
  test.for([
    ['npm', 'is-odd'],
    ['npm', 'is-odd@3'],
    ['npm', 'is-odd@3.0.1'],
    ['npm', 'is-odd@^3.0.0 || >=5 <6'],
    ['npm', 'is-odd@latest'],
    ['npm', '@acme/tool@next-1'],
    ['npm', 'JSONStream@1.x'],
    ['pypi', 'tinypkg'],
    ['pypi', 'tinypkg==1.0'],
    ['pypi', 'Tiny_Pkg.more>=1,<2.0,!=1.5.*'],
    ['pypi', 'tinypkg[extra,more]~=1.0.post1'],
    ['pypi', 'torch==2.0+cpu'],
  ] as const)('of %s accepts %s', ([kind, spec]) => {
    expect(parsePackageSpec(kind, spec)).toBe(spec);
  });

  test('blanks between versions of Python are left out', () => {
    expect(parsePackageSpec('pypi', 'tinypkg >= 1.0, < 2')).toBe('tinypkg>=1.0,<2');
  });

  test.for([
    ['npm', ''],
    ['npm', '-g'],
    ['npm', '--registry=https://evil.test'],
    ['npm', './local'],
    ['npm', '../local'],
    ['npm', '/etc'],
    ['npm', '~/local'],
    ['npm', 'user/repository'],
    ['npm', 'github:user/repository'],
    ['npm', 'git+https://git.test/a.git'],
    ['npm', 'git@git.test:a.git'],
    ['npm', 'https://files.test/a.tgz'],
    ['npm', 'file:a'],
    ['npm', 'a.tgz'],
    ['npm', 'a.tar.gz'],
    ['npm', 'a@file:b'],
    ['npm', 'a@npm:b@1'],
    ['npm', 'a@https://files.test/a.tgz'],
    ['npm', 'a@user/repository'],
    ['npm', 'a@b.tgz'],
    ['npm', 'a@'],
    ['npm', 'a@ '],
    ['npm', '@acme'],
    ['npm', '@acme/'],
    ['npm', '@acme/tool/more'],
    ['npm', '.hidden'],
    ['npm', 'a b'],
    ['npm', 'a\n--global'],
    ['npm', 'é'],
    ['npm', 'a'.repeat(215)],
    ['pypi', ''],
    ['pypi', '-r requirements.txt'],
    ['pypi', '--index-url=https://evil.test'],
    ['pypi', './local'],
    ['pypi', '/etc'],
    ['pypi', 'a @ https://files.test/a.whl'],
    ['pypi', 'a@https://files.test/a.whl'],
    ['pypi', 'git+https://git.test/a.git'],
    ['pypi', 'https://files.test/a.whl'],
    ['pypi', 'file:///a.whl'],
    ['pypi', 'a-1.0-py3-none-any.whl'],
    ['pypi', 'a.zip'],
    ['pypi', 'a==1.0.tar.gz'],
    ['pypi', 'a==1.0; python_version > "3"'],
    ['pypi', 'a=1.0'],
    ['pypi', 'a=='],
    ['pypi', 'a==1.0 --pre'],
    ['pypi', 'a\n-r x'],
  ] as const)('of %s refuses %j', ([kind, spec]) => {
    const code = expect.objectContaining({ code: 'packages.refused' }) as Error;
    expect(() => parsePackageSpec(kind, spec)).toThrow(code);
  });
});
