import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as stores from '../../../src/library/stores/index.ts';

const cache = stores.openTreeCache('/nowhere/cache');
const of = { kind: 'user', cache } as const;

const CREATED: [string, (more: object) => { id: string }, string][] = [
  ['a folder', (more) => stores.createDirectoryStore({ path: '/skills', ...of, ...more }), 'directory:/skills'],
  ['an archive', (more) => stores.createArchiveStore({ path: '/s.zip', ...of, ...more }), 'archive:/s.zip'],
  [
    'an archive behind an address',
    (more) => stores.createArchiveStore({ url: 'https://a.example/s.zip', ...of, ...more }),
    'archive:https://a.example/s.zip',
  ],
  [
    'a repository',
    (more) => stores.createGitStore({ url: 'https://a.example/s', ...of, ...more }),
    'git:https://a.example/s',
  ],
  ['a bucket', (more) => stores.createS3Store({ bucket: 'team', prefix: 'u1', ...of, ...more }), 's3://team/u1/'],
  [
    'a web site',
    (more) => stores.createWebStore({ url: 'https://a.example', ...of, ...more }),
    'web:https://a.example',
  ],
  [
    'a server',
    (more) => stores.createMcpStore({ url: 'https://a.example/mcp', ...of, ...more }),
    'mcp:https://a.example/mcp',
  ],
];

describe.each(CREATED)('the store of %s', (_name, create, id) => {
  it('has its address as its id', () => expect(create({}).id).toBe(id));

  it.each([
    [{ prefx: 'x' }, 'there is no field prefx'],
    [{ kind: 'public' }, 'kind'],
    [{ cache: '/cache' }, 'cache must be a cache, such as openTreeCache()'],
    [{ cache: { folder: '/cache', find: () => undefined } }, 'cache must be a cache, such as openTreeCache()'],
  ])('is not created with %j', (more, named) => {
    expect(() => create(more)).toThrow(
      expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(named) }),
    );
  });
});

describe.each(CREATED.filter(([, , id]) => /^(?:web|mcp):/.test(id)))('the store of %s', (_name, create) => {
  it.each([
    [{ allowPrivate: '127.0.0.1' }, 'allowPrivate'],
    [{ allowPrivate: [''] }, 'allowPrivate'],
    [{ ports: [0] }, 'ports'],
    [{ ports: [65_536] }, 'ports'],
    [{ lookup: 'dns' }, 'lookup must be a function'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ timeoutMs: 600_001 }, 'timeoutMs'],
  ])('refuses the outgoing rule %j', (more, named) => {
    expect(() => create(more)).toThrow(
      expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(named) }),
    );
  });

  it('accepts outgoing rules at their limits', () => {
    expect(() =>
      create({ ports: [1, 65_535], timeoutMs: 600_000, allowPrivate: ['a'], lookup: () => [] }),
    ).not.toThrow();
  });
});

describe.each(Object.entries(stores).filter(([name]) => name.startsWith('create')))('%s()', (_name, create) => {
  it.each([undefined, null, 5])('refuses %j in place of options', (given) => {
    expect(() => create(given as never)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  });
});

it.each(['b', 'Team', 'team/u1', '-team'])('an invalid bucket name is refused with its rule (%j)', (bucket) => {
  expect(() => stores.createS3Store({ bucket, prefix: 'u1', ...of })).toThrow(
    /bucket must be 3 to 63 small letters, digits, dots and hyphens, got/,
  );
});

describe('openTreeCache()', () => {
  it.each<[field: string, folder: unknown, options: object]>([
    ['folder', undefined, {}],
    ['folder', 5, {}],
    ['folder', '', {}],
    ['folder', 'a\0b', {}],
    ['maxBytes', 'cache', { maxBytes: -1 }],
    ['maxBytes', 'cache', { maxBytes: 0 }],
    ['maxBytes', 'cache', { maxBytes: Number.NaN }],
    ['maxBytes', 'cache', { maxBytes: '1' }],
  ])('names the invalid field %s (%j, %j)', (field, folder, options) => {
    expect(() => stores.openTreeCache(folder as string, options)).toThrow(
      expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining(field) }),
    );
  });
});

it('skillcell/stores loads no client before the first call', () => {
  const entry = fileURLToPath(new URL('../../../src/library/stores/index.ts', import.meta.url));
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(entry)});
    console.log(JSON.stringify(loaded));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const loaded = JSON.parse(output) as string[];
  expect(loaded.filter((url) => url.includes('stores/s3/s3-store.ts'))).toHaveLength(1);
  const packages = new Set(loaded.flatMap((url) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));
  expect(
    [...packages].filter((name) => /^(?:@aws-sdk|@smithy|undici|@modelcontextprotocol|@zip\.js|yauzl|yazl)/.test(name)),
  ).toEqual([]);
});
