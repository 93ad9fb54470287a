import { describe, expect, it } from 'vitest';
import { groupSkills } from '../../../../src/library/stores/s3/group-skills.ts';
import { checkedName, checkedPrefix, keyFault } from '../../../../src/library/stores/s3/key-fault.ts';
import { listPrefix } from '../../../../src/library/stores/s3/list-prefix.ts';
import {
  isReserved,
  newPublication,
  type Publication,
  readPublication,
  writePublication,
} from '../../../../src/library/stores/s3/publication.ts';
import { withinQuiet } from '../../../../src/library/stores/s3/s3-access.ts';
import type { ListedObject, ListedPage, S3Access } from '../../../../src/library/stores/s3/s3-access.ts';
import { FaultyAnswer, failureOf } from '../../../../src/library/stores/s3/s3-failure.ts';
import { addressOf, checkConnection, endpointOf } from '../../../../src/library/stores/s3/s3-options.ts';
import { digestOf } from '../../../../src/skills/text/digest.ts';

const KEY = expect.objectContaining({ code: 'store.key-invalid' }) as Error;
const OPTIONS = expect.objectContaining({ code: 'options.invalid' }) as Error;

describe('keys', () => {
  it.each(['a/', '/a', 'a//b', 'a/../b', './a', 'a\\b', 'a\u0000', 'a\u200bb', 'a%2e%2E/b', 'a%2Fb', 'a%5cb', 'a%00'])(
    'that are ambiguous to other readers are refused: %j',
    (key) => {
      expect(keyFault(key)).toBeTypeOf('string');
      expect(() => checkedPrefix(key === 'a/' ? 'a//' : key)).toThrow(KEY);
    },
  );

  it('may have 1,024 bytes, and a prefix ends where a name ends', () => {
    const long = [...Array<string>(4).fill('é'.repeat(100)), 'a'.repeat(220)].join('/');
    expect([keyFault(long), keyFault(`${long}a`)]).toEqual([undefined, 'over 1024 bytes']);
    expect(['', 'a', 'a/b/'].map(checkedPrefix)).toEqual(['', 'a/', 'a/b/']);
  });

  it.each(['a/b', ' a', 'a ', 'e\u0301', '', '..', 'a%2fb'])(
    'with the name of a user need one plain name: not %j',
    (name) => {
      expect(() => checkedName(name, 'a user')).toThrow(KEY);
      expect(checkedName('\u00e9 1', 'a user')).toBe('\u00e9 1');
    },
  );
});

describe('a connection', () => {
  const of = { bucket: 'team' };

  it.each([
    { bucket: 'A' },
    { bucket: 'a/b' },
    { bucket: 'a'.repeat(64) },
    { ...of, region: 'eu/west' },
    { ...of, endpoint: 'file:///x' },
    { ...of, endpoint: 'https://user@host' },
    { ...of, endpoint: 'https://:secret@host' },
    { ...of, endpoint: 'secret' },
    { ...of, timeoutMs: 0 },
    { ...of, timeoutMs: 600_001 },
    { ...of, tries: 0 },
    { ...of, tries: 11 },
    { ...of, more: 1 },
  ])('is refused with %j, without repeating a secret', (connection) => {
    expect(() => checkConnection(connection)).toThrow(OPTIONS);
    expect(() => checkConnection(connection)).not.toThrow(/secret/);
  });

  it('uses its own endpoint, else that of the environment', () => {
    expect(addressOf({ ...of, endpoint: 'http://Host:9000/a/' })).toBe('s3+http://host:9000/a/team/');
    const env = { AWS_ENDPOINT_URL_S3: 'https://s3', AWS_ENDPOINT_URL: 'https://all' };
    expect(endpointOf({ endpoint: 'https://own' }, env)).toBe('https://own');
    expect(endpointOf({}, env)).toBe('https://s3');
    expect(endpointOf({}, { ...env, AWS_ENDPOINT_URL_S3: '' })).toBe('https://all');
    expect(endpointOf({}, { ...env, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' })).toBeUndefined();
  });
});

describe('a publication', () => {
  const file = { path: 'SKILL.md', digest: digestOf(''), bytes: 0, executable: false, etag: 'e' };
  const said = newPublication('settled', [file]);
  const read = (value: unknown): Publication | undefined => readPublication(Buffer.from(JSON.stringify(value)));

  it('reads back as written', () => expect(readPublication(writePublication(said))).toEqual(said));

  it.each([
    ['of another schema', { ...said, schema: 'other@1' }],
    ['with more fields', { ...said, more: 1 }],
    ['of a write with a path as its id', { ...said, write: '../../x' }],
    ['in another state', { ...said, state: 'gone' }],
    ...['../a', '/a', 'a%2e', '.skillcell.json', '.skillcell', '.skillcell/a'].map((path): [string, unknown] => [
      `of the file ${path}`,
      { ...said, files: [{ ...file, path }] },
    ]),
    ['with a repeated file', { ...said, files: [file, file] }],
    ['of a file and a folder of one name', { ...said, files: [file, { ...file, path: 'SKILL.md/a' }] }],
    ['with an invalid digest', { ...said, files: [{ ...file, digest: 'md5:1' }] }],
    ['with a negative number of bytes', { ...said, files: [{ ...file, bytes: -1 }] }],
    ['with a long ETag', { ...said, files: [{ ...file, etag: 'e'.repeat(201) }] }],
    ['of 20,001 files', { ...said, files: Array.from({ length: 20_001 }, (_, at) => ({ ...file, path: `${at}` })) }],
    ['of great depth', { ...said, files: [{ ...file, etag: [[[]]] }] }],
    ['that is a list', []],
  ])('is ignored %s', (_, value) => expect(read(value)).toBeUndefined());

  it('and its stage are not files of a skill', () => {
    expect(['.skillcell.json', '.skillcell', '.skillcell/x', '.skillcellx', 'a/.skillcell'].map(isReserved)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('listPrefix()', () => {
  const object = (key: string, bytes = 1): ListedObject => ({ key, etag: key, bytes, changedAt: 0 });
  const access = (...pages: Partial<ListedPage>[]): S3Access => {
    let asked = 0;
    const list = async (): Promise<ListedPage> => ({
      objects: [],
      unreadable: [],
      prefixes: [],
      next: undefined,
      at: asked,
      ...pages[Math.min(asked++, pages.length - 1)],
    });
    return { address: 's3://team/', list } as unknown as S3Access;
  };

  it('returns the ends of pages, and the time of the first one', async () => {
    const { objects, pageEnds, at, isCut } = await listPrefix(
      access({ objects: [object('u/a'), object('u/b')], next: '1' }, { next: '2' }, { objects: [object('u/c')] }),
      'u/',
    );
    expect([[...objects.keys()], pageEnds, at, isCut]).toEqual([['a', 'b', 'c'], ['b'], 0, false]);
  });

  it.each([
    ['token', access({ next: '1' })],
    ['key', access({ objects: [object('u/a')], next: '1' }, { objects: [object('u/a')] })],
  ])(
    'reports an outage where a %s is repeated',
    async (_, service) => await expect(listPrefix(service, 'u/')).rejects.toMatchObject({ code: 'store.unavailable' }),
  );

  it('reports keys outside the prefix or without a file, but not folder markers of consoles', async () => {
    const keys = ['u/', 'u/folder/', 'other/a', 'ua', 'u/../b', 'u/b/'];
    const { objects, diagnostics } = await listPrefix(
      access({
        objects: keys.map((key) => object(key, key === 'u/' || key === 'u/folder/' ? 0 : 1)),
        unreadable: ['x'],
      }),
      'u/',
    );
    expect([objects.size, diagnostics.map(({ code }) => code)]).toEqual([0, Array(5).fill('s3.key')]);
  });

  it('keeps one of two equal-looking names, and the folder beside a file of its name', async () => {
    const { objects, diagnostics } = await listPrefix(
      access({ objects: ['u/e\u0301', 'u/\u00e9', 'u/blue', 'u/blue/x/y'].map((key) => object(key)) }),
      'u/',
    );
    expect([...objects.keys()]).toEqual(['\u00e9', 'blue/x/y']);
    expect(diagnostics.map(({ code }) => code)).toEqual(['s3.twin', 's3.shadowed']);
  });

  it.each([
    { keys: 2, pages: 100 },
    { keys: 100, pages: 1 },
  ])('ends at %j, with a diagnostic', async (limits) => {
    const page = (name: string, next?: string): Partial<ListedPage> => ({
      objects: [object(`u/${name}1`), object(`u/${name}2`)],
      next,
    });
    const { objects, isCut, diagnostics } = await listPrefix(access(page('a', '1'), page('b')), 'u/', { limits });
    expect([objects.size, isCut, diagnostics.map(({ code }) => code)]).toEqual([2, true, ['s3.too-many']]);
  });
});

describe('groupSkills()', () => {
  it('groups by the outermost folder, without stages and excluded folders', () => {
    const paths = ['b/SKILL.md', 'b/in/SKILL.md', 'a/SKILL.md', 'c/.skillcell/x/SKILL.md', 'd/note.md', 'e/SKILL.md'];
    const objects = new Map(paths.map((path) => [path, { key: path, etag: '', bytes: 1, changedAt: 0 }]));
    const { skills } = groupSkills(objects, new Set(['e']));
    expect([...skills].map(([folder, files]) => [folder, [...files.keys()]])).toEqual([
      ['a', ['SKILL.md']],
      ['b', ['SKILL.md', 'in/SKILL.md']],
    ]);
  });

  it('names the first of the folders that are too deep, and counts all of them', () => {
    const paths = ['a', 'b'].map((name) => `${name}/1/2/3/4/5/6/7/SKILL.md`);
    const objects = new Map(paths.map((path) => [path, { key: path, etag: '', bytes: 1, changedAt: 0 }]));
    const { skills, diagnostics } = groupSkills(objects, new Set());
    expect([...skills]).toEqual([]);
    expect(diagnostics).toMatchObject([
      { code: 'root.depth', path: 'a/1/2/3/4/5/6/7', message: expect.stringContaining('2 of them hold a SKILL.md') },
    ]);
  });
});

describe('failureOf()', () => {
  it.each([
    [412, 'PreconditionFailed', 'moved'],
    [304, 'NotModified', 'moved'],
    [409, 'ConditionalRequestConflict', 'again'],
    [404, 'NoSuchKey', 'absent'],
    [404, 'NoSuchBucket', 'refused'],
    [429, 'Error', 'again'],
    [408, 'Error', 'again'],
    [503, 'Error', 'again'],
    [400, 'SlowDown', 'again'],
    [403, 'AccessDenied', 'refused'],
    [301, 'PermanentRedirect', 'refused'],
  ])('maps %i %s to %s', (httpStatusCode, name, kind) => {
    expect(failureOf({ name, message: 'secret', $metadata: { httpStatusCode } })).toMatchObject({ kind });
    expect(JSON.stringify(failureOf({ name, message: 'secret', $metadata: { httpStatusCode } }))).not.toContain(
      'secret',
    );
  });

  it.each([
    ['InvalidAccessKeyId', 'AWS_ACCESS_KEY_ID'],
    ['SignatureDoesNotMatch', 'AWS_SECRET_ACCESS_KEY'],
    ['ExpiredToken', 'Sign in again'],
    ['AccessDenied', 's3:ListBucket'],
    ['NoSuchBucket', 'AWS_ENDPOINT_URL_S3'],
    ['PermanentRedirect', 'AWS_REGION'],
    ['AuthorizationHeaderMalformed', 'AWS_REGION'],
  ])('answers %s with the advice to look at %s', (name, advice) => {
    const status = name === 'NoSuchBucket' ? 404 : 403;
    expect(failureOf({ name, $metadata: { httpStatusCode: status } })).toMatchObject({
      hint: expect.stringContaining(advice) as string,
    });
  });

  it('maps a silent service to "again", and missing credentials to "refused"', () => {
    expect(failureOf(new FaultyAnswer('nothing'))).toEqual({ kind: 'again', reason: 'nothing' });
    expect(failureOf({ code: 'ECONNRESET' })).toEqual({ kind: 'again', reason: 'ECONNRESET' });
    expect(failureOf({ name: 'CredentialsProviderError' }).kind).toBe('refused');
    expect(failureOf({ name: 'a\u001b[2J', $metadata: { httpStatusCode: 400 } }).reason).not.toMatch(/\p{Cc}/u);
  });
});

describe('withinQuiet()', () => {
  it('ends work without progress, and aborted work', async () => {
    const never = async (signal: AbortSignal): Promise<never> =>
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    await expect(withinQuiet(5, undefined, never)).rejects.toThrow('nothing for 5 ms');
    const controller = new AbortController();
    const waiting = withinQuiet(60_000, controller.signal, never);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    let asked = 0;
    await expect(withinQuiet(5, controller.signal, async () => (asked += 1))).rejects.toThrow('enough');
    expect(asked).toBe(0);
  });
});
