import { mkdtempSync, readFileSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import type { SkillStore, StoreItem } from '../../../../src/contracts/skills/store.ts';
import type { Diagnostic } from '../../../../src/contracts/errors/diagnostic.ts';
import { removeTree } from '../../../../src/durable/remove-tree.ts';
import { openSkillLibrary } from '../../../../src/library/open-skill-library.ts';
import type { SkillLibrary, SkillLibraryOptions } from '../../../../src/library/snapshot/skill-library.ts';
import { digestOf } from '../../../../src/skills/text/digest.ts';
import { openTreeCache } from '../../../../src/library/stores/cache/tree-cache.ts';
import { createMcpStore, type McpStoreOptions } from '../../../../src/library/stores/mcp/mcp-store.ts';
import { answering, type AnswerRequest } from '../../../fixtures/mcp/answering.ts';
import { type LocalServer, serveLocally } from '../../../fixtures/outgoing/local-server.ts';
import { skillText } from '../../../fixtures/outgoing/skill-site.ts';
import {
  type ChangeResult,
  changing,
  officialServer,
  type OfficialServer,
} from '../../../fixtures/outgoing/skill-server.ts';
import { until } from '../../../fixtures/until.ts';

const BYTES = Uint8Array.from([0, 255, 1, 254]);

let folder: string;
let official: OfficialServer;
let listener: RequestListener;
let server: LocalServer;
let store: SkillStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-mcp-store-'));
  official = await officialServer({
    'units/SKILL.md': skillText('units'),
    'units/data/ä b.bin': BYTES,
    'units/tools.yaml': 'tools: []\n',
    'acme/billing/refunds/SKILL.md': skillText('refunds'),
  });
  listener = official.listener;
  server = await serveLocally((request, response) => listener(request, response));
  store = openStore();
});
afterEach(async () => {
  await store.close();
  await server[Symbol.asyncDispose]();
  removeTree(folder);
});

function openStore(options: Partial<McpStoreOptions> = {}): SkillStore {
  return createMcpStore({
    url: `http://127.0.0.1:${server.port}/mcp`,
    kind: 'user',
    cache: openTreeCache(join(folder, 'cache')),
    allowPrivate: ['127.0.0.1'],
    ports: [server.port],
    ...options,
  });
}

async function fault(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'none',
    ({ code, message }: SkillcellError) => `${code}: ${message}`,
  );
}

async function units(from: SkillStore = store): Promise<StoreItem> {
  const found = (await from.list()).items.find(({ path }) => path === 'units');
  if (found === undefined) throw new Error('no item');
  return found;
}

/** Puts a proxy in front that changes answers. */
async function behind(change: ChangeResult, work: () => Promise<void>): Promise<void> {
  await using inner = await serveLocally(official.listener);
  listener = changing(inner.port, change);
  await work();
}

describe('createMcpStore()', () => {
  it('lists and opens the skills of a server of the official SDK', async () => {
    const { items, diagnostics } = await store.list();
    expect(diagnostics).toEqual([]);
    expect(items.map(({ path, kind, origin }) => [path, kind, origin])).toEqual([
      [
        'acme/billing/refunds',
        'user',
        { type: 'mcp', source: store.id.slice(4), folder: 'skill://acme/billing/refunds/SKILL.md' },
      ],
      ['units', 'user', { type: 'mcp', source: store.id.slice(4), folder: 'skill://units/SKILL.md' }],
    ]);
    expect(store.id).toBe(`mcp:http://127.0.0.1:${server.port}/mcp`);
    const view = await store.open(items[1] as StoreItem);
    expect(view.files.map(({ path, bytes, executable }) => `${path} ${bytes} ${executable}`)).toEqual([
      `SKILL.md ${skillText('units').length} false`,
      'data/ä b.bin 4 false',
      'tools.yaml 10 false',
    ]);
    expect(Uint8Array.from(readFileSync(join(view.folder, 'data/ä b.bin')))).toEqual(BYTES);
  });

  it('reads no file for a head, and no file from the server that the cache has', async () => {
    const read: string[] = [];
    await behind(
      ({ method, params }, result) => {
        if (method === 'resources/read') read.push(String(params['uri']));
        return result;
      },
      async () => {
        const item = await units();
        expect(read).toEqual([]);
        const head = await store.head(item);
        expect(read).toEqual([]);
        expect(head.names.map(({ path, bytes }) => `${path} ${bytes}`)).toContain('data/ä b.bin 4');
        const [, frontmatter] = skillText('units').split('---\n');
        expect(Buffer.from(head.skillFile.bytes).toString()).toBe(`---\n${frontmatter}---\n`);
        expect(head).toMatchObject({ listed: true });
        expect(head.tools).toBeUndefined();
        await store.open(item);
        expect(read).toHaveLength(3);
        const second = openStore();
        await second.open(await units(second));
        await second.open(item);
        await second.close();
        expect(read).toHaveLength(3);
      },
    );
  });

  it('opens no stream for server-initiated messages, and leaves no connection', async () => {
    await store.open(await units());
    expect(server.seen.filter((line) => !line.startsWith('POST '))).toEqual([]);
    await store.close();
    await until(() => server.open === 0, 'all connections are closed');
    listener = (_, response) => response.writeHead(500).end('no');
    expect(await fault(store.list())).toMatch(/^store\.unavailable: /);
    await until(() => server.open === 0, 'failed connections are closed');
  });

  it('opens an item of another store by its uri', async () => {
    const item = await units();
    const other = openStore({ cache: openTreeCache(join(folder, 'other')) });
    expect((await other.open(item)).files).toHaveLength(3);
    await other.close();
  });

  it('sends its headers with each request, and shows them in no error', async () => {
    const seen = new Set<unknown>();
    listener = (request, response) => {
      seen.add(request.headers.authorization);
      official.listener(request, response);
    };
    const secret = openStore({ headers: { authorization: 'Bearer secret' } });
    await secret.open(await units(secret));
    expect([...seen]).toEqual(['Bearer secret']);
    listener = (request, response) => response.writeHead(401).end(`no ${request.headers.authorization}`);
    expect(await fault(secret.list())).toMatch(/^store\.unavailable: (?!.*secret)/);
    await secret.close();
  });
});

describe('a library with an MCP store', () => {
  const ODD = '---\n# A comment.\nname: units\ndescription: Does units.\nversion: [1]\n---\nBody.\n';
  /** Files that a use of the library reads from the server. */
  async function reads(
    options: Partial<SkillLibraryOptions>,
    use: (library: SkillLibrary) => Promise<void>,
  ): Promise<string[]> {
    const read: string[] = [];
    official.files['units/SKILL.md'] = ODD;
    await official.reload();
    await behind(
      ({ method, params }, result) => {
        if (method === 'resources/read') read.push(String(params['uri']));
        return result;
      },
      async () => {
        const cacheDir = join(folder, 'library');
        await using library = await openSkillLibrary({ stores: [store], cacheDir, ...options });
        await use(library);
      },
    );
    return read;
  }

  it('reads files only when a skill is loaded, and only its own', async () => {
    const read = await reads({}, async (library) => {
      // A quarter of the UTF-8 bytes, estimated: `Body.`, a line end and a comment.
      expect((await library.heads()).map(({ id, tokens }) => [id, tokens])).toEqual([
        ['custom.refunds', 2],
        ['custom.units', 5],
      ]);
      await library.subsystem({ refs: ['custom.refunds'] });
    });
    expect(read).toEqual(['skill://acme/billing/refunds/SKILL.md']);
  });

  it('reports a fault of a skill once, before and after it is loaded', async () => {
    const found = (diagnostics: readonly Diagnostic[]): string[] => diagnostics.map(({ code }) => code);
    await reads({}, async (library) => {
      await library.heads();
      expect(found(library.diagnostics())).toEqual(['skill.field-type']);
      const { diagnostics, skills } = await library.subsystem({ refs: ['custom.units'] });
      expect(found(diagnostics)).toEqual(['skill.field-type']);
      expect(skills.find(({ id }) => id === 'custom.units')?.body).toBe('Body.\n');
    });
  });

  it('reads every file where `admit` decides by digest, which does not cover the list', async () => {
    const bodies: string[] = [];
    const read = await reads({ admit: ({ body }) => void bodies.push(body) }, async (library) => {
      await library.heads();
    });
    expect(read).toHaveLength(4);
    expect(new Set(bodies)).toEqual(new Set(['Body.\n']));
  });
});

describe('createMcpStore() follows the newer protocol', () => {
  const UNITS = skillText('units');
  const uri = 'skill://units/SKILL.md';
  const cached = { ttlMs: 0, cacheScope: 'private' };
  const skills = {
    ...cached,
    skills: [
      {
        uri,
        frontmatter: { name: 'units', description: 'Does units.' },
        resources: [{ uri, digest: digestOf(UNITS), size: UNITS.length }],
      },
    ],
  };
  const contents = { ...cached, contents: [{ uri, mimeType: 'text/markdown', text: UNITS }] };
  const served = (read: AnswerRequest): RequestListener =>
    answering({
      'server/discover': () => ({
        supportedVersions: ['2026-07-28'],
        capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
        serverInfo: { name: 'h', version: '1' },
        ...cached,
      }),
      'skills/list': () => skills,
      'resources/read': read,
    });

  it('a result without its type is complete', async () => {
    listener = served(() => contents);
    expect((await store.open(await units())).files).toHaveLength(1);
  });

  it('a request is repeated after a result with only a state', async () => {
    const states: unknown[] = [];
    listener = served(({ params }) =>
      states.push(params['requestState']) === 1
        ? { resultType: 'input_required', requestState: 'busy' }
        : { ...contents, resultType: 'complete' },
    );
    expect((await store.open(await units())).files).toHaveLength(1);
    expect(states).toEqual([undefined, 'busy']);
  });

  it('a stream that ends before its answer is resumed at its last id', async () => {
    const ids: unknown[] = [];
    let answer = '';
    const posted = served(({ id }, response) => {
      answer = JSON.stringify({ jsonrpc: '2.0', id, result: contents });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: one\nretry: 1\ndata:\n\n');
    });
    listener = (request, response) => {
      if (request.method !== 'GET') return posted(request, response);
      ids.push(request.headers['last-event-id']);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${answer}\n\n`);
    };
    expect((await store.open(await units())).files).toHaveLength(1);
    expect(ids).toEqual(['one']);
  });
});

describe('createMcpStore() reports an outage', () => {
  it.each([404, 500, 503, 403])('where the server answers with %i, and works again afterwards', async (status) => {
    const item = await units();
    listener = (_, response) => response.writeHead(status).end('no');
    expect(await fault(store.list())).toMatch(/^store\.unavailable: /);
    expect(await fault(store.open(item))).toMatch(/^store\.unavailable: /);
    listener = official.listener;
    expect((await store.open(item)).files).toHaveLength(3);
  });

  it('where the server is down, from the first call on', async () => {
    await server[Symbol.asyncDispose]();
    expect(await fault(store.list())).toMatch(/^store\.unavailable: .*it refused the connection/);
    server = await serveLocally((request, response) => listener(request, response), { port: server.port });
    const item = await units();
    await server[Symbol.asyncDispose]();
    expect(await fault(store.open(item))).toMatch(/^store\.unavailable: /);
    // The head comes from the list.
    expect(await fault(store.head(item))).toBe('none');
    server = await serveLocally((request, response) => listener(request, response), { port: server.port });
    expect((await store.list()).items).toHaveLength(2);
  });

  it('where the server is slow', async () => {
    const hasty = openStore({ timeoutMs: 200 });
    const item = await units(hasty);
    listener = () => undefined;
    expect(await fault(hasty.open(item))).toMatch(/^store\.unavailable: .*(?:200 ms|in time)/);
    expect(await fault(hasty.list())).toMatch(/^store\.unavailable: .*(?:200 ms|in time)/);
    await hasty.close();
  });

  it.each([
    ['in its JSON', 'application/json', '{"jsonrpc":"2.0",', true],
    ['in a stream', 'text/event-stream', 'event: message\ndata: {"jsonrpc"', true],
    ['at the end of a stream without an answer', 'text/event-stream', ': nothing\n\n', false],
  ])('where an answer is cut %s', async (_, type, begin, isCut) => {
    const item = await units();
    listener = (_request, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': type }).write(begin);
      setImmediate(() => (isCut ? response.destroy() : response.end()));
    };
    expect(await fault(store.open(item))).toMatch(/^store\.unavailable: /);
  });

  it('but rejects an aborted call with its reason, without harm to other calls', async () => {
    let waiting = 0;
    const held: (() => void)[] = [];
    listener = (request, response) => {
      waiting += 1;
      held.push(() => official.listener(request, response));
    };
    const controller = new AbortController();
    const aborted = fault(store.list({ signal: controller.signal }));
    const listed = store.list();
    await until(() => waiting > 0, 'a request');
    controller.abort(new Error('enough'));
    expect(await aborted).toBe('undefined: enough');
    listener = official.listener;
    for (const answer of held) answer();
    expect((await listed).items).toHaveLength(2);
    expect(await fault(store.list({ signal: AbortSignal.abort(new Error('never')) }))).toBe('undefined: never');
  });
});

describe('createMcpStore() trusts only the list', () => {
  it('bytes with another digest give store.changed, and so does a changed list', async () => {
    const item = await units();
    official.files['units/SKILL.md'] = skillText('units', 'Other.');
    expect(await fault(store.open(item))).not.toBe('none');
    await official.reload();
    expect(await fault(store.open(item))).toMatch(/^store\.changed: /);
    const fresh = await units();
    expect(fresh.revision).not.toBe(item.revision);
    expect(await fault(store.open(item))).toMatch(/^store\.changed: /);
    expect(await fault(store.head(item))).toMatch(/^store\.changed: /);
    expect((await store.open(fresh)).files).toHaveLength(3);
    delete official.files['units/SKILL.md'];
    delete official.files['units/data/ä b.bin'];
    delete official.files['units/tools.yaml'];
    await official.reload();
    expect((await store.list()).items.map(({ path }) => path)).toEqual(['acme/billing/refunds']);
    expect(await fault(store.open(fresh))).toMatch(/^store\.changed: /);
  });

  it.each([
    ['another text of the same size', (text: string) => text.replace('Body', 'Evil')],
    ['a longer text', (text: string) => `${text} `],
  ])('%s in place of the listed one gives store.changed', async (_, alter) => {
    await behind(
      ({ method, params }, result: { contents: { text: string }[] }) =>
        method === 'resources/read' && params['uri'] === 'skill://units/SKILL.md'
          ? { ...(result as object), contents: result.contents.map((each) => ({ ...each, text: alter(each.text) })) }
          : result,
      async () => {
        const item = await units();
        expect(await fault(store.open(item))).toMatch(/^store\.changed: .*another digest than is listed/);
      },
    );
  });

  it.each([false, true])('the listed frontmatter must equal that of SKILL.md, kept before: %s', async (isKept) => {
    if (isKept) await store.open(await units());
    await behind(
      ({ method }, result: { skills: { frontmatter: object }[] }) =>
        method === 'skills/list'
          ? {
              ...(result as object),
              skills: result.skills.map((each) => ({
                ...each,
                frontmatter: { ...each.frontmatter, description: 'Nice.' },
              })),
            }
          : result,
      async () =>
        expect(await fault(store.open(await units()))).toMatch(
          /^source\.refused: .*the frontmatter of SKILL\.md differs from the list/,
        ),
    );
  });

  it('an unlisted file is never requested: it is not part of the skill', async () => {
    const read: unknown[] = [];
    await behind(
      ({ method, params }, result: { skills: { uri: string; resources: { uri: string }[] }[] }) => {
        if (method === 'resources/read') read.push(params['uri']);
        if (method !== 'skills/list') return result;
        const skills = result.skills.map((each) => ({
          ...each,
          resources: each.resources.filter(({ uri }) => !uri.endsWith('tools.yaml')),
        }));
        return { ...(result as object), skills };
      },
      async () => {
        const item = await units();
        const view = await store.open(item);
        expect(view.files.map(({ path }) => path)).toEqual(['SKILL.md', 'data/ä b.bin']);
        expect((await store.head(item)).tools).toBeUndefined();
        expect(read).not.toContain('skill://units/tools.yaml');
      },
    );
  });

  const good = (uri: string): object => ({ uri, digest: digestOf(''), size: 0 });
  const entry = (resources: unknown, uri = 'skill://evil/SKILL.md'): object => ({
    uri,
    frontmatter: { name: uri.split('/').at(-2), description: 'Does it.' },
    resources,
  });
  it.each([
    ['without a list of files', entry(undefined)],
    ['of dynamic files', entry('dynamic')],
    ['with a file of another skill', entry([good('skill://evil/SKILL.md'), good('skill://units/SKILL.md')])],
    ['with a file outside the skill', entry([good('skill://evil/SKILL.md'), good('skill://evil/../units/SKILL.md')])],
    [
      'with a percent-encoded file outside the skill',
      entry([good('skill://evil/SKILL.md'), good('skill://evil/%2e%2e%2fx')]),
    ],
    ['with an absolute path', entry([good('skill://evil/SKILL.md'), good('skill://evil//etc/passwd')])],
    [
      'with two files that collide on some systems',
      entry([good('skill://evil/SKILL.md'), good('skill://evil/a'), good('skill://evil/A')]),
    ],
    ['with an invalid digest', entry([{ ...good('skill://evil/SKILL.md'), digest: 'md5:1' }])],
    ['without a size', entry([{ uri: 'skill://evil/SKILL.md', digest: digestOf('') }])],
    ['without SKILL.md', entry([good('skill://evil/a')])],
    ['with a SKILL.md over a mebibyte', entry([{ ...good('skill://evil/SKILL.md'), size: 2 ** 20 + 1 }])],
    ['over 16 MiB', entry([good('skill://evil/SKILL.md'), { ...good('skill://evil/a'), size: 2 ** 24 + 1 }])],
    [
      'of 513 files',
      entry([good('skill://evil/SKILL.md'), ...Array.from({ length: 512 }, (_, at) => good(`skill://evil/${at}`))]),
    ],
    ['whose uri leaves its place', entry([good('skill://a/../evil/SKILL.md')], 'skill://a/../evil/SKILL.md')],
    ['whose uri is not UTF-8', entry([good('skill://%ff/evil/SKILL.md')], 'skill://%ff/evil/SKILL.md')],
    [
      'of another name',
      { ...entry([good('skill://evil/SKILL.md')]), frontmatter: { name: 'good', description: 'Is.' } },
    ],
    ['that is not an object', 7],
  ])('an entry %s is left out and reported, and the others stay', async (_, hostile) => {
    await behind(
      ({ method }, result: { skills: unknown[] }) =>
        method === 'skills/list' ? { ...(result as object), skills: [hostile, ...result.skills] } : result,
      async () => {
        const { items, diagnostics } = await store.list();
        expect(items.map(({ path }) => path)).toEqual(['acme/billing/refunds', 'units']);
        expect(diagnostics.map(({ code }) => code)).toEqual(['index.entry']);
      },
    );
  });

  it('the second of two skills with one path is reported, also of another scheme', async () => {
    const twin = entry([good('skill://github/x/evil/SKILL.md')], 'skill://github/x/evil/SKILL.md');
    const other = entry([good('github://x/evil/SKILL.md')], 'github://x/evil/SKILL.md');
    await behind(
      ({ method }, result: object) => (method === 'skills/list' ? { ...result, skills: [twin, other] } : result),
      async () => {
        const { items, diagnostics } = await store.list();
        expect(items.map(({ path, origin }) => [path, origin.folder])).toEqual([
          ['github/x/evil', 'skill://github/x/evil/SKILL.md'],
        ]);
        expect(diagnostics.map(({ code, path }) => [code, path])).toEqual([
          ['index.duplicate', 'github://x/evil/SKILL.md'],
        ]);
      },
    );
  });

  it('a list with a key that reaches a prototype, of great depth, or of too many skills is refused', async () => {
    const answers: [ChangeResult, RegExp][] = [
      [
        ({ method }, result) =>
          method === 'skills/list' ? '{"jsonrpc":"2.0","id":1,"result":{"__proto__":{}}}' : result,
        /^source\.refused: /,
      ],
      [
        ({ method }, result) => (method === 'skills/list' ? `{"a":${'['.repeat(70)}${']'.repeat(70)}}` : result),
        /^source\.refused: /,
      ],
      [
        ({ method }, result) =>
          method === 'skills/list'
            ? {
                ...(result as object),
                skills: Array.from({ length: 5_001 }, (_, at) =>
                  entry([good(`skill://s${at}/SKILL.md`)], `skill://s${at}/SKILL.md`),
                ),
              }
            : result,
        /^source\.refused: .*more than 5000 skills/,
      ],
    ];
    for (const [change, expected] of answers)
      await behind(change, async () => expect(await fault(store.list())).toMatch(expected));
  });

  /** Pages of an endless list, and the cursors of its requests. */
  const endless = (more: object): { pages: unknown[]; change: ChangeResult } => {
    const pages: unknown[] = [];
    let first: object = {};
    return {
      pages,
      change({ method, params }, result) {
        if (method !== 'skills/list') return result;
        if (pages.length === 0) first = result;
        pages.push(params['cursor']);
        return { ...first, ...more, skills: [], nextCursor: `${pages.length}` };
      },
    };
  };

  it('an endless list is refused', async () => {
    const { pages, change } = endless({});
    await behind(change, async () =>
      expect(await fault(store.list())).toMatch(/^source\.refused: .*its list has no end/),
    );
    expect(pages).toHaveLength(100);
  });

  it('each call has the full byte budget', async () => {
    const { change } = endless({ padding: 'x'.repeat(10 * 1024 * 1024), nextCursor: undefined });
    const single: ChangeResult = (asked, result) => {
      const changed = change(asked, result);
      return asked.method === 'skills/list' ? { ...(changed as object), nextCursor: undefined } : changed;
    };
    await behind(single, async () => {
      for (let turn = 0; turn < 5; turn += 1) expect(await fault(store.list())).toBe('none');
    });
  });

  it('an answer with too many values or bytes is refused', async () => {
    const answers: [string, ChangeResult][] = [
      ['its answer is refused', (_, result) => ({ ...(result as object), more: Array(200_001).fill(0) })],
      ['it sends more than 25165824 bytes', (_, result) => ({ ...(result as object), more: 'x'.repeat(24 * 2 ** 20) })],
    ];
    for (const [said, change] of answers)
      await behind(
        (asked, result) => (asked.method === 'skills/list' ? change(asked, result) : result),
        async () => expect(await fault(store.list())).toMatch(new RegExp(`^source\\.refused: .*${said}`)),
      );
  });

  it('a list of large pages is refused at the byte budget of the call', async () => {
    const { pages, change } = endless({ padding: 'x'.repeat(10 * 1024 * 1024) });
    await behind(change, async () =>
      expect(await fault(store.list())).toMatch(/^source\.refused: .*it sends more than/),
    );
    expect(pages).toHaveLength(4);
  });

  it('a server without skills support is refused, and is not an empty library', async () => {
    await behind(
      ({ method }, result: { capabilities: object }) =>
        method === 'server/discover' || method === 'initialize'
          ? { ...(result as object), capabilities: { ...result.capabilities, extensions: {} } }
          : result,
      async () =>
        expect(await fault(store.list())).toMatch(
          /^source\.refused: Cannot read the source .*: the server offers no skills\.$/,
        ),
    );
  });
});

describe('createMcpStore() checks its outgoing requests', () => {
  it.each(['', 'file:///x', 'https://user:secret@host/mcp', 'https://host/mcp?token=secret'])(
    'and refuses %j',
    (url) => {
      expect(() => openStore({ url })).toThrow(expect.objectContaining({ code: 'source.refused' }) as Error);
      expect(() => openStore({ url })).not.toThrow(/secret/);
    },
  );

  it('and refuses private addresses and redirects', async () => {
    const plain = openStore({ allowPrivate: [], url: `https://127.0.0.1:${server.port}/mcp` });
    expect(await fault(plain.list())).toContain('not public (loopback)');
    await plain.close();
    expect(server.connections).toBe(0);
    listener = (_, response) => response.writeHead(307, { location: 'http://169.254.169.254/' }).end();
    expect(await fault(store.list())).toMatch(/^source\.refused: .*it redirects a request other than GET/);
  });
});
