import { mkdtempSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packSkill } from '../../../../src/archives/pack-skill.ts';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import type { SkillStore, StoreItem } from '../../../../src/contracts/skills/store.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { digestOf } from '../../../../src/skills/text/digest.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { createWebStore, type WebStoreOptions } from '../../../../src/library/stores/web/web-store.ts';
import { type LocalServer, serveLocally } from '../../../fixtures/outgoing/local-server.ts';
import { SCHEMA, skillSite, type SkillSite, skillText, tarOf } from '../../../fixtures/outgoing/skill-site.ts';
import { until } from '../../../fixtures/until.ts';

const INDEX = '/.well-known/agent-skills/index.json';
const OLD = '/.well-known/skills';

let folder: string;
let site: SkillSite;
let server: LocalServer;
let store: SkillStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-web-'));
  site = skillSite();
  server = await serveLocally((request, response) => site.listener(request, response));
  store = openStore();
});
afterEach(async () => {
  await store.close();
  await server[Symbol.asyncDispose]();
  removeTree(folder);
});

function openStore(options: Partial<WebStoreOptions> = {}): SkillStore {
  return createWebStore({
    url: `http://127.0.0.1:${server.port}`,
    kind: 'project',
    cache: openTreeCache(join(folder, 'cache')),
    allowPrivate: ['127.0.0.1'],
    ports: [server.port],
    ...options,
  });
}

/** Code and message of a failed call. */
async function fault(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'none',
    ({ code, message }: SkillcellError) => `${code}: ${message}`,
  );
}

async function only(): Promise<StoreItem> {
  const [item] = (await store.list()).items;
  if (item === undefined) throw new Error('no item');
  return item;
}

describe('createWebStore()', () => {
  it('lists the skills of a site, and opens a SKILL.md and an archive with verified digests', async () => {
    site.publish('units', skillText('units'));
    site.publish(
      'press',
      await tarOf({ 'SKILL.md': skillText('press'), 'scripts/run.sh': 'echo', 'tools.yaml': 'tools: []\n' }),
    );
    const { items, diagnostics } = await store.list();
    expect(diagnostics).toEqual([]);
    expect(items.map(({ path, revision }) => [path, revision])).toEqual([
      ['units', digestOf(skillText('units'))],
      ['press', expect.stringMatching(/^sha256:/)],
    ]);
    expect(items[0]).toMatchObject({
      kind: 'project',
      origin: { type: 'web', source: `http://127.0.0.1:${server.port}`, folder: 'units' },
    });
    const views = await Promise.all(items.map(async (item) => await store.open(item)));
    expect(views.map(({ files }) => files.map(({ path, executable }) => `${path} ${executable}`))).toEqual([
      ['SKILL.md false'],
      ['SKILL.md false', 'scripts/run.sh true', 'tools.yaml false'],
    ]);
    expect(readFileSync(join(views[0]?.folder ?? '', 'SKILL.md'), 'utf8')).toBe(skillText('units'));
    const head = await store.head(items[1] as StoreItem);
    expect(head.names.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/run.sh', 'tools.yaml']);
    expect(`${head.skillFile.path} ${Buffer.from(head.skillFile.bytes)}`).toBe(`SKILL.md ${skillText('press')}`);
    expect(Buffer.from(head.tools ?? []).toString()).toBe('tools: []\n');
  });

  it('fetches each file once, also for another store with the same cache', async () => {
    site.publish('units', skillText('units'));
    site.publish('press', await tarOf({ 'press/SKILL.md': skillText('press') }));
    for (const each of (await store.list()).items) {
      await store.head(each);
      await store.open(each);
    }
    expect(server.seen.map((line) => line.split('/').at(-1))).toEqual(['index.json', 'SKILL.md', 'press.tar.gz']);
    const second = openStore();
    const [units] = (await second.list()).items;
    await second.open(units as StoreItem);
    await second.close();
    expect(server.seen).toHaveLength(4);
  });

  it('reads a zip archive, with the skill at its root or in one folder, and one with a content encoding', async () => {
    const tree = new Map([['SKILL.md', { bytes: Buffer.from(skillText('zipped')), executable: false }]]);
    site.publish('zipped', (await packSkill('zipped', tree, { store: true })).archive);
    const packed = await tarOf({ 'SKILL.md': skillText('packed') });
    site.publish('packed', packed);
    site.files.set('/.well-known/agent-skills/packed.tar.gz', (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
    );
    for (const item of (await store.list()).items)
      expect((await store.open(item)).files.map(({ path }) => path)).toEqual(['SKILL.md']);
  });

  it('accepts an address with a path, with the path of the list, and files of another host', async () => {
    await using other = await serveLocally((_, response) => response.end(skillText('units')), { address: '127.0.0.2' });
    const { port } = other;
    site.publish('units', skillText('units'));
    Object.assign(site.entries.get('units') ?? {}, { url: `http://127.0.0.2:${port}/a?signature=secret` });
    site.publish('other', skillText('other'));
    site.files.set('/docs/.well-known/agent-skills/index.json', site.files.get(INDEX) as string);
    const options = { allowPrivate: ['127.0.0.0/8'], ports: [port, server.port] };
    for (const path of ['/docs', '/docs/', '/docs/.well-known/agent-skills/index.json', '/docs/.well-known/skills']) {
      await using open = closing(openStore({ ...options, url: `http://127.0.0.1:${server.port}${path}` }));
      expect(open.store.id).toBe(`web:http://127.0.0.1:${server.port}/docs`);
      expect((await open.store.list()).items).toHaveLength(2);
    }
    await using open = closing(openStore(options));
    const [units] = (await open.store.list()).items;
    await open.store.open(units as StoreItem);
    expect(other.seen).toEqual([`GET 127.0.0.2:${port} /a?signature=secret`]);

    // Without the second host in `allowPrivate`, nothing is sent there, and the message contains nothing of its query.
    await store.list();
    const message = await fault(openStore({ cache: openTreeCache(join(folder, 'empty')) }).open(units as StoreItem));
    expect(message).toMatch(/^source\.refused: /);
    expect(message).not.toContain('secret');
    expect(other.seen).toHaveLength(1);
  });

  it('reads the older list without a new one, and reports missing digests', async () => {
    site.files.delete(INDEX);
    site.files.set(
      `${OLD}/index.json`,
      JSON.stringify({ skills: [{ name: 'old', description: 'Old.', files: ['SKILL.md', 'data/a b#1.csv'] }] }),
    );
    site.files.set(`${OLD}/old/SKILL.md`, skillText('old'));
    site.files.set(`${OLD}/old/data/a b#1.csv`, 'a,b');
    const { items, diagnostics } = await store.list();
    expect(diagnostics.map(({ code }) => code)).toEqual(['index.no-digest']);
    const view = await store.open(items[0] as StoreItem);
    expect(view.files.map(({ path }) => path)).toEqual(['SKILL.md', 'data/a b#1.csv']);
    expect(view.digest).toBe(items[0]?.revision);
    site.files.set(`${OLD}/old/data/a b#1.csv`, 'b,a');
    const [changed] = (await store.list()).items;
    expect(changed?.revision).not.toBe(view.digest);
    // The cached bytes stay valid; an empty cache has to fetch, and gets other bytes.
    await using other = closing(openStore());
    expect((await other.store.open(items[0] as StoreItem)).digest).toBe(view.digest);
    await using empty = closing(openStore({ cache: openTreeCache(join(folder, 'empty')) }));
    expect(await fault(empty.store.open(items[0] as StoreItem))).toMatch(/^store\.changed: /);
    site.files.delete(`${OLD}/old/data/a b#1.csv`);
    expect(await fault(store.list())).toMatch(/^store\.unavailable: .*status 404/);
  });
});

describe('createWebStore() reports an outage', () => {
  it.each([404, 410])('where the list is missing: %i', async (status) => {
    site.files.set(INDEX, (_, response) => response.writeHead(status).end());
    expect(await fault(store.list())).toMatch(/^store\.unavailable: .*it is missing below/);
    expect(server.seen.map((line) => line.split(' ')[2])).toEqual([INDEX, `${OLD}/index.json`]);
  });

  it.each([500, 503, 403, 204, 304])(
    'where the site answers with %i, without a request for the older list',
    async (status) => {
      site.files.set(INDEX, (_, response) => response.writeHead(status).end());
      expect(await fault(store.list())).toContain(
        `store.unavailable: Cannot read the source: it answers with the HTTP status ${status}`,
      );
      expect(server.seen).toHaveLength(1);
    },
  );

  it('where the site is down', async () => {
    site.publish('units', skillText('units'));
    const item = await only();
    await server[Symbol.asyncDispose]();
    expect(await fault(store.list())).toMatch(/^store\.unavailable: /);
    expect(await fault(store.open(item))).toMatch(/^store\.unavailable: /);
    expect(await fault(store.head(item))).toMatch(/^store\.unavailable: /);
    server = await serveLocally((request, response) => site.listener(request, response), { port: server.port });
    expect((await store.open(item)).files).toHaveLength(1);
  });

  it('where an answer is slow, or cut', async () => {
    site.publish('units', skillText('units'));
    const item = await only();
    let cuts = false;
    const begin = (_: unknown, response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"skills":[');
      if (cuts) setImmediate(() => response.destroy());
    };
    for (const path of [INDEX, '/.well-known/agent-skills/units/SKILL.md']) site.files.set(path, begin);
    const hasty = openStore({ timeoutMs: 100 });
    expect(await fault(hasty.list())).toContain('within 100 ms');
    await hasty.close();
    cuts = true;
    expect(await fault(store.list())).toMatch(/^store\.unavailable: .*broke off/);
    expect(await fault(store.open(item))).toMatch(/^store\.unavailable: .*broke off/);
  });

  it('but rejects an aborted call with its reason', async () => {
    site.files.set(INDEX, () => undefined);
    const controller = new AbortController();
    const listed = fault(store.list({ signal: controller.signal }));
    await until(() => server.seen.length === 1, 'the request');
    controller.abort(new Error('enough'));
    expect(await listed).toBe('undefined: enough');
  });
});

describe('createWebStore() trusts only the list', () => {
  it('bytes with another digest give store.changed', async () => {
    site.publish('units', skillText('units'));
    const item = await only();
    site.files.set('/.well-known/agent-skills/units/SKILL.md', skillText('units', 'Evil.'));
    expect(await fault(store.open(item))).toBe(
      'store.changed: Cannot read the skill "units": its bytes have another digest than is listed.',
    );
    expect(await fault(store.head(item))).toMatch(/^store\.changed: /);
  });

  it('a skill with a new digest, or no longer listed, gives store.changed', async () => {
    site.publish('units', skillText('units'));
    const item = await only();
    site.publish('units', skillText('units', 'New.'));
    expect(await fault(store.open(item))).toMatch(/^store\.changed: /);
    const fresh = await only();
    expect(fresh.revision).not.toBe(item.revision);
    expect((await store.open(fresh)).files).toHaveLength(1);
    expect(await fault(store.open(item))).toMatch(/^store\.changed: /);
    site.retract('units');
    expect((await store.list()).items).toEqual([]);
    expect(await fault(store.open(item))).toMatch(/^store\.changed: /);
    expect(await fault(store.open(fresh))).toMatch(/^store\.changed: /);
    // An item that another store has listed since is looked up in the present list.
    site.publish('units', skillText('units', 'Newer.'));
    await store.list();
    site.publish('units', skillText('units', 'Newest.'));
    await using other = closing(openStore());
    const [newest] = (await other.store.list()).items;
    expect((await store.open(newest as StoreItem)).files).toHaveLength(1);
  });

  it('opens an item that another store has listed', async () => {
    site.publish('units', skillText('units'));
    const item = await only();
    const other = openStore();
    expect((await other.open(item)).files).toHaveLength(1);
    await other.close();
  });

  it('a SKILL.md or an archive is read up to its limit', async () => {
    site.publish('units', skillText('units', 'x'.repeat(2 ** 20)));
    site.publish('press', Buffer.alloc(10 * 2 ** 20 + 1));
    const { items } = await store.list();
    expect(await fault(store.open(items[0] as StoreItem))).toContain('it sends more than 1048576 bytes');
    expect(await fault(store.open(items[1] as StoreItem))).toContain('it sends more than 10485760 bytes');
  });

  it('files of the older list are read up to their common limit', async () => {
    site.files.delete(INDEX);
    site.files.set(`${OLD}/index.json`, JSON.stringify({ skills: [{ name: 'old', files: ['SKILL.md', 'a', 'b'] }] }));
    site.files.set(`${OLD}/old/SKILL.md`, skillText('old'));
    site.files.set(`${OLD}/old/a`, Buffer.alloc(40 * 2 ** 20));
    site.files.set(`${OLD}/old/b`, Buffer.alloc(10 * 2 ** 20));
    const left = 10 * 2 ** 20 - skillText('old').length;
    expect(await fault(store.list())).toContain(
      `source.refused: Cannot read the source: it sends more than ${left} bytes`,
    );
  });

  it('a call with an aborted signal sends nothing', async () => {
    expect(await fault(store.list({ signal: AbortSignal.abort(new Error('never')) }))).toBe('undefined: never');
    expect(server.connections).toBe(0);
  });

  it('close() closes its connections', async () => {
    await store.list();
    expect(server.open).toBe(1);
    await store.close();
    await until(() => server.open === 0, 'the end of its connections');
  });

  it('an archive with a name outside its folder is refused', async () => {
    site.publish('evil', await tarOf({ 'SKILL.md': skillText('evil'), '../evil': 'x' }));
    const { items } = await store.list();
    const error = (await store.open(items[0] as StoreItem).catch((cause: unknown) => cause)) as SkillcellError;
    expect([error.code, error.diagnostics[0]?.code]).toEqual(['archive.refused', 'tar.name']);
  });

  it('a list of another type, or of another version, is refused', async () => {
    const shown = `http://127.0.0.1:${server.port}${INDEX}`;
    site.files.set(INDEX, (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'));
    expect(await fault(store.list())).toMatch(/^source\.refused: .*got text\/html of http/);
    for (const [index, reason] of [
      ['{"skills":[]}', 'its $schema is not'],
      [`{"$schema":"${SCHEMA.replace('0.2.0', '9.0.0')}","skills":[]}`, 'its $schema is not'],
      [`{"$schema":"${SCHEMA}"}`, 'it has no list `skills`'],
      [`{"$schema":"${SCHEMA}","skills":{}}`, 'it has no list `skills`'],
      ['[]', 'it has no list `skills`'],
      ['null', 'it has no list `skills`'],
      ['{', 'it is no valid JSON'],
    ]) {
      site.files.set(INDEX, index as string);
      const message = await fault(store.list());
      expect(message).toContain(`source.refused: Cannot read the list of skills: ${reason}`);
      expect(message).toContain(shown);
    }
  });
});

describe('N15 lists that are hostile', () => {
  it.each([
    [
      'of 200 MB',
      `{"$schema":"${SCHEMA}","skills":[${' '.repeat(4 * 1024 * 1024)}]}`,
      'it sends more than 4194304 bytes',
    ],
    [
      'of great depth',
      `{"$schema":"${SCHEMA}","skills":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'nested over 16 levels',
    ],
    ['of many entries', `{"$schema":"${SCHEMA}","skills":[${'{},'.repeat(5_000)}{}]}`, 'it has more than 5000 entries'],
    ['of many values', `{"$schema":"${SCHEMA}","skills":[],"more":[${'0,'.repeat(200_000)}0]}`, '200000'],
    ['with __proto__', `{"$schema":"${SCHEMA}","skills":[],"__proto__":{"skills":[]}}`, 'a key that is not allowed'],
    ['with constructor.prototype', `{"skills":[],"constructor":{"prototype":{"a":1}}}`, 'a key that is not allowed'],
  ])('are refused: %s', async (_, index, reason) => {
    site.files.set(INDEX, index);
    expect(await fault(store.list())).toMatch(/^source\.refused: /);
    expect(await fault(store.list())).toContain(reason);
  });

  it('are refused without their control characters in the message', async () => {
    site.files.set(INDEX, '{"$schema":"a\\u001b[2J","skills":[]}');
    expect(await fault(store.list())).toMatch(/^source\.refused: \P{Cc}*$/u);
  });

  it('that inflate to much are refused', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, ' '));
    site.files.set(INDEX, (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
    );
    expect(await fault(store.list())).toContain('its answer inflates to more than 4194304 bytes');
  });

  it('lose their bad entries, each with its reason, and keep the others', async () => {
    site.publish('good', skillText('good'));
    const good = site.entries.get('good') ?? {};
    const bad: unknown[] = [
      null,
      'text',
      { ...good, name: undefined },
      ...['../evil', 'A', 'a--b', '-a', 'é', 'a/b', '', 'x'.repeat(65), '__proto__', 'con\u0000'].map((name) => ({
        ...good,
        name,
      })),
      { ...good, name: 'typeless', type: 'script' },
      { ...good, name: 'plain', digest: undefined },
      { ...good, name: 'short', digest: 'sha256:abc' },
      { ...good, name: 'upper', digest: digestOf('').toUpperCase() },
      { ...good, name: 'nowhere', url: 'http://' },
      { ...good, name: 'urlless', url: 7 },
    ];
    const index = { $schema: SCHEMA, more: 1, skills: [...bad, { ...good, more: 1 }, { ...good }] };
    site.files.set(INDEX, JSON.stringify(index));
    const { items, diagnostics } = await store.list();
    expect(items.map(({ path }) => path)).toEqual(['good']);
    expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
      ...bad.map((_, at) => `index.entry skills/${at}`),
      `index.duplicate skills/${bad.length + 1}`,
    ]);
    expect(diagnostics.map(({ message }) => message).join('\n')).not.toMatch(/\p{Cc}(?<!\n)/u);
  });

  it('cannot send requests to refused addresses', async () => {
    await using inside = await serveLocally((_, response) => response.end('inside'), { address: '127.0.0.3' });
    const targets = [
      `http://127.0.0.3:${inside.port}/`,
      'http://169.254.169.254/latest/',
      'file:///etc/passwd',
      'https://10.0.0.1/',
    ];
    for (const url of targets) {
      site.publish('evil', skillText('evil'));
      Object.assign(site.entries.get('evil') ?? {}, { url });
      site.publish('good', skillText('good'));
      const { items } = await store.list();
      expect(await fault(store.open(items.find(({ path }) => path === 'evil') as StoreItem))).toMatch(
        /^source\.refused: /,
      );
    }
    expect(inside.connections).toBe(0);
  });

  it('of the older version lose entries with files outside their folder, or with colliding names', async () => {
    site.files.delete(INDEX);
    const skills = [
      ['up', ['SKILL.md', '../x']],
      ['absolute', ['SKILL.md', '/etc/passwd']],
      ['twice', ['SKILL.md', 'a', 'A']],
      ['none', ['a']],
      ['number', ['SKILL.md', 1]],
      ['many', ['SKILL.md', ...Array.from({ length: 500 }, (_, at) => `${at}`)]],
    ].map(([name, files]) => ({ name, files }));
    site.files.set(`${OLD}/index.json`, JSON.stringify({ skills }));
    const { items, diagnostics } = await store.list();
    expect([items.length, diagnostics.map(({ code }) => code)]).toEqual([0, skills.map(() => 'index.entry')]);
  });
});

describe('createWebStore() refuses addresses', () => {
  it.each([
    '',
    'host',
    'file:///etc',
    'https://user:secret@host/',
    'https://host/?token=secret',
    'https://host/#secret',
  ])('that are invalid, or may hold a secret: %s', (url) => {
    expect(() => openStore({ url })).toThrow(expect.objectContaining({ code: 'source.refused' }) as Error);
    expect(() => openStore({ url })).not.toThrow(/secret/);
  });

  it('that are private', async () => {
    const plain = openStore({ allowPrivate: [] });
    expect(await fault(plain.list())).toContain('only https is allowed');
    await plain.close();
    expect(server.connections).toBe(0);
  });
});

function closing(store: SkillStore): { store: SkillStore } & AsyncDisposable {
  return { store, [Symbol.asyncDispose]: async () => await store.close() };
}
