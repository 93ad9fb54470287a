import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readNpmRegistries } from '../../../src/egress/packages/npm-registries.ts';
import { readPypiIndex } from '../../../src/egress/packages/pypi-index.ts';
import { withVariables } from '../../fixtures/egress/registries.ts';

const TOKEN = 'npm_0123456789';
let folder: string;
let restore: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npmrc-'));
  restore = withVariables({
    HOME: folder,
    npm_config_userconfig: join(folder, 'user'),
    npm_config_globalconfig: join(folder, 'global'),
    npm_config_registry: undefined,
    npm_config_cafile: undefined,
    NPM_TOKEN: undefined,
  });
});
afterEach(async () => {
  restore();
  await rm(folder, { recursive: true, force: true });
});
const write = (name: string, ...lines: string[]): Promise<void> => writeFile(join(folder, name), lines.join('\n'));
const code = (name: string): Error => expect.objectContaining({ code: name }) as Error;

describe('readNpmRegistries()', () => {
  test('without configuration there is the public registry', () => {
    const { places, npmrc } = readNpmRegistries();
    expect(places).toMatchObject([{ host: 'registry.npmjs.org', port: 443, path: '/', isDefault: true, scopes: [] }]);
    expect(places[0]?.credentials).toBeUndefined();
    expect(npmrc).toContain('registry=https://registry.npmjs.org/\n');
  });

  test('the user stands above the machine, and variables above both', async () => {
    await write('global', 'registry=https://global.test/', '@a:registry=https://a.test/npm');
    await write('user', 'registry=https://user.test/');
    const { places, npmrc } = readNpmRegistries();
    expect(places.map(({ host, path, isDefault, scopes }) => ({ host, path, isDefault, scopes }))).toEqual([
      { host: 'user.test', path: '/', isDefault: true, scopes: [] },
      { host: 'a.test', path: '/npm/', isDefault: false, scopes: ['@a'] },
    ]);
    expect(npmrc).toContain('@a:registry=https://a.test/npm/\n');
    const again = withVariables({ npm_config_registry: 'https://variable.test/' });
    expect(readNpmRegistries().places[0]?.host).toBe('variable.test');
    again();
  });

  test('the token of a registry is its own, and not in the configuration of the sandbox', async () => {
    await write(
      'user',
      '@a:registry=https://a.test/npm/one/',
      '@b:registry=https://a.test:8443/npm/',
      '@c:registry=https://c.test/',
      `//a.test/npm/:_authToken=${TOKEN}`,
      `//c.test/:_auth=${Buffer.from('user:long password').toString('base64')}`,
    );
    const { places, npmrc } = readNpmRegistries();
    const of = (scope: string): (typeof places)[number] | undefined =>
      places.find(({ scopes }) => scopes.includes(scope));
    expect(of('@a')?.credentials?.authorization).toBe(`Bearer ${TOKEN}`);
    expect(of('@b')?.credentials).toBeUndefined();
    expect(of('@c')?.credentials?.washed.map(({ value }) => value)).toContain('long password');
    expect(places.find(({ isDefault }) => isDefault)?.credentials).toBeUndefined();
    expect(npmrc).not.toMatch(/_auth|npm_0|password/);
  });

  test('a token is taken from a variable, and none goes over plain http', async () => {
    const lines = ['registry=http://plain.test/', `//plain.test/:_authToken=${TOKEN}`];
    await write('user', ...lines, '@a:registry=https://a.test/', '//a.test/:_authToken=${NPM_TOKEN}');
    const again = withVariables({ NPM_TOKEN: TOKEN });
    const { places } = readNpmRegistries();
    again();
    expect(places.map(({ credentials }) => credentials?.authorization)).toEqual([undefined, `Bearer ${TOKEN}`]);
  });

  test('credentials for all registries go to none', async () => {
    await write('user', `_auth=${Buffer.from('user:password').toString('base64')}`, `_authToken=${TOKEN}`);
    expect(readNpmRegistries().places[0]?.credentials).toBeUndefined();
  });

  test('a user in the URL of a registry becomes its credentials', async () => {
    await write('user', 'registry=https://user:long-password@a.test/');
    const { places, npmrc } = readNpmRegistries();
    expect(places[0]?.credentials?.authorization).toBe(`Basic ${btoa('user:long-password')}`);
    expect(npmrc).toContain('registry=https://a.test/\n');
    expect(npmrc).not.toContain('long-password');
  });

  test('a minimum age of releases becomes a date, which older npm knows as well', async () => {
    await write('user', 'min-release-age=2');
    const { npmrc } = readNpmRegistries(Date.parse('2026-01-03T00:00:00Z'));
    expect(npmrc).toContain('before=2026-01-01T00:00:00.000Z\n');
    await write('user', 'min-release-age=2', 'before=2025-05-05');
    expect(readNpmRegistries().npmrc).toContain('before=2025-05-05T00:00:00.000Z\n');
  });

  test('its own certificates replace those of Node', async () => {
    await write('ca.pem', 'of the company');
    await write('user', `cafile=${join(folder, 'ca.pem')}`);
    expect(readNpmRegistries().places[0]?.ca).toBe('of the company');
    await write('user', `cafile=${join(folder, 'none.pem')}`);
    expect(() => readNpmRegistries()).toThrow(code('packages.unavailable'));
  });

  test('a file that names a variable without a value fails, and does not leave out the registries of scopes', async () => {
    await write('user', '@a:registry=https://a.test/', '//a.test/:_authToken=${NPM_TOKEN}');
    expect(readNpmRegistries).toThrow(code('packages.unavailable'));
    expect(readNpmRegistries).toThrow(/names the variable NPM_TOKEN, which is not set, got ".*user"\.$/);
  });

  test('a registry at the host of a sandbox itself fails with a reason', async () => {
    for (const host of ['localhost:4873', '127.0.0.1', '[::1]:80', 'npm.localhost']) {
      await write('user', `registry=http://${host}/`);
      expect(readNpmRegistries).toThrow(/finds its own sandbox there; give the registry another host name, got http:/);
    }
  });

  test('a token that answers cannot be searched for fails without being shown', async () => {
    await write('user', '//registry.npmjs.org/:_authToken=short');
    expect(() => readNpmRegistries()).toThrow(/fewer than 8 bytes/);
    expect(() => readNpmRegistries()).not.toThrow(/short/);
  });
});

describe('readPypiIndex()', () => {
  test('the files of pypi.org lie on another host', () => {
    expect(readPypiIndex(undefined, undefined).places).toMatchObject([
      { host: 'pypi.org', path: '/', index: '/simple/' },
      { host: 'files.pythonhosted.org', path: '/packages/' },
    ]);
  });

  test('the option stands above the variable, and credentials stay here', () => {
    expect(readPypiIndex(undefined, 'https://b.test/simple').places[0]?.host).toBe('b.test');
    const { places, url } = readPypiIndex('https://user:long-password@a.test/root/simple', 'https://b.test/simple');
    expect(url).toBe('https://a.test/root/simple/');
    expect(places).toMatchObject([{ host: 'a.test', path: '/root/', index: '/root/simple/' }]);
    expect(places[0]?.credentials?.authorization).toBe(`Basic ${btoa('user:long-password')}`);
  });
});
