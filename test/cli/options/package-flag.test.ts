import { expect, test } from 'vitest';
import { packagesFromFlags } from '../../../src/cli/options/flags/package-flag.ts';

test('packages are sorted by their registry, and its names are allowed', () => {
  expect(packagesFromFlags(['npm:is-odd@3', 'pypi:tinypkg==1.0', 'npm:@acme/tool'])).toEqual({
    job: { packages: { npm: ['is-odd@3', '@acme/tool'], pypi: ['tinypkg==1.0'] } },
    allowed: { npm: ['*'], pypi: ['*'] },
  });
  expect(packagesFromFlags([])).toEqual({ job: {}, allowed: {} });
});

test.for(['is-odd', 'npm:', 'cargo:a', ''])('%j is refused', (value) => {
  const code = expect.objectContaining({ code: 'usage.invalid' }) as Error;
  expect(() => packagesFromFlags([value])).toThrow(code);
});
