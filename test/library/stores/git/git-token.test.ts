import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import { gitEnvironment } from '../../../../src/library/stores/git/git-environment.ts';
import type { GitStoreOptions } from '../../../../src/library/stores/git/git-store.ts';
import { gitAuthorization } from '../../../../src/library/stores/git/git-token.ts';
import { commandLines } from '../../../fixtures/command-lines.ts';
import { describeWith, MISSING_GIT, MISSING_OPENSSL } from '../../../fixtures/describe-with.ts';
import { type AnswerInstead, askWho, type GitHttpServer, serveGit } from '../../../fixtures/git-http-server.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';

const TOKEN = 's3cret-of-the-press';
const ENCODED = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const SECRET = new RegExp(`${TOKEN}|${ENCODED}`);

let scene: GitScene;
const closing: (() => Promise<void>)[] = [];

async function serve(instead: AnswerInstead = askWho(ENCODED)): Promise<GitHttpServer & { url: string }> {
  const server = await serveGit(scene.folder, join(scene.folder, 'tls'), { instead });
  closing.push(async () => await server.close());
  return { ...server, url: `https://git.test:${server.port}/repository` };
}

/** Paths of skills, or the refusal with every printable detail. */
async function come(options: Partial<GitStoreOptions>): Promise<string> {
  return await Promise.resolve()
    .then(async () => await scene.open(options).list())
    .then(
      ({ items }) => items.map(({ path }) => path).join(),
      (error: SkillcellError) => `${error.code}: ${error.message} ${error.hint} ${inspect(error, { depth: 9 })}`,
    );
}

describeWith('git store: tokens', MISSING_GIT ?? MISSING_OPENSSL, () => {
  beforeEach(() => {
    scene = setUpGit();
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await scene.close();
  });

  it('read a private repository, and appear in no file and in no arguments of a process', async () => {
    const lines: string[] = [];
    const check = askWho(ENCODED);
    const { url, caFile, requests } = await serve((request, response) => {
      lines.push(...commandLines());
      return check(request, response);
    });
    const store = scene.open({ url, caFile, token: TOKEN });
    const { items } = await store.list();
    const [item] = items;
    if (item === undefined) throw new Error('nothing was listed');
    expect((await store.open(item)).files).toHaveLength(1);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.filter((line) => !line.endsWith(` Basic ${ENCODED}`))).toEqual([]);
    expect(lines.some((line) => line.includes(url))).toBe(true);
    expect(lines.filter((line) => SECRET.test(line))).toEqual([]);
    expect(JSON.stringify([store.id, items])).not.toMatch(SECRET);
    const kept = readdirSync(scene.cacheFolder, { recursive: true, withFileTypes: true });
    for (const entry of kept) {
      expect(entry.name).not.toMatch(SECRET);
      if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), 'latin1')).not.toMatch(SECRET);
    }
    expect(kept.some(({ name }) => name.endsWith('.pack'))).toBe(true);
  });

  it('come from a function for each request, where one is given', async () => {
    const { url, caFile } = await serve();
    const given = [TOKEN, 'expired'];
    const store = scene.open({ url, caFile, token: async () => given.shift() ?? '' });
    // One call for the query of the branch, one for the fetch.
    given.unshift(TOKEN);
    expect((await store.list()).items).toHaveLength(1);
    await expect(store.list()).rejects.toThrow('rejects the token');
    await expect(store.list()).rejects.toMatchObject({ code: 'options.invalid' });
    const failing = await come({ url, caFile, token: () => Promise.reject(new Error('no key')) });
    expect(failing).toMatch(/^store\.unavailable: .*there is no token for it/);
  });

  it.each([
    [undefined, 401, /asks for a credential.*`--credential https:\/\/git\.test:\d+=VARIABLE` names/],
    ['s3cret-of-another-user', 401, /rejects the token.*`--credential https:\/\/git\.test:\d+=VARIABLE`/],
    ['s3cret-of-another-user', 403, /rejects the token/],
    [undefined, 403, /asks for a credential/],
  ])(
    'give store.unavailable for %j where the server answers %i, with a hint about --credential',
    async (token, status, told) => {
      const { url, caFile } = await serve(askWho(ENCODED, status));
      const refused = await come({ url, caFile, token });
      expect(refused).toMatch(/^store\.unavailable: /);
      expect(refused).toMatch(told);
      expect(refused).not.toContain('s3cret');
      expect(refused).not.toContain(Buffer.from(`x-access-token:${token}`).toString('base64'));
    },
  );

  it('are not awaited after the call is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const token = (): Promise<string> => {
      controller.abort(reason);
      return new Promise(() => undefined);
    };
    const store = scene.open({ url: 'https://git.test/a.git', token });
    await expect(store.list({ signal: controller.signal })).rejects.toBe(reason);
  });

  it('are hidden in echoes of the server', async () => {
    const packet = (text: string): string => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
    const { url, caFile } = await serve((request, response) => {
      const said = `ERR \u001b[31m\u202eno: ${request.headers.authorization}, ${TOKEN}${'x'.repeat(1_000)}`;
      response
        .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
        .end(`${packet('# service=git-upload-pack\n')}0000${packet(said)}`);
      return true;
    });
    const refused = await come({ url, caFile, token: TOKEN });
    expect(refused).toContain('no: Basic …, …xxx');
    expect(refused).not.toMatch(/x{300}/);
    for (const hidden of ['\u001b', '\u202e']) expect(refused).not.toContain(hidden);
    expect(refused).not.toMatch(SECRET);
  });

  it('are sent to their host, and not to the target of a redirect', async () => {
    const other = await serve();
    const { url, caFile, requests } = await serve((_, response) => {
      response.writeHead(302, { location: `${other.url}/info/refs?service=git-upload-pack` }).end();
      return true;
    });
    expect(await come({ url, caFile, token: TOKEN })).toMatch(/^source\.refused: .*redirects to another address/);
    expect(requests).toEqual([expect.stringContaining(` Basic ${ENCODED}`)]);
    expect(other.requests).toEqual([]);
  });

  it('belong to one origin: git does not send them to another port of the host', async () => {
    const [right, other] = [await serve(), await serve()];
    const address = { protocol: 'https' as const, url: right.url };
    const authorization = await gitAuthorization(address, TOKEN, undefined);
    for (const { url, port, caFile } of [right, other]) {
      const pinned = `git.test:${port}:127.0.0.1`;
      const env = gitEnvironment({ protocol: 'https', pinned, caFile, authorization });
      await promisify(execFile)('git', ['ls-remote', url], { env }).catch(() => undefined);
    }
    expect(right.requests[0]).toContain(`Basic ${ENCODED}`);
    expect(other.requests).not.toEqual([]);
    expect(other.requests.join()).not.toContain('Basic');
  });

  it('are refused for protocols without encryption, and for local paths', async () => {
    const protocols = ['https', 'http', 'git', 'file'] as const;
    for (const url of ['http://git.test/a.git', 'git://git.test/a.git', scene.repository.path]) {
      const refused = await come({ url, protocols, token: TOKEN });
      expect(refused).toMatch(/^source\.refused: .*a token goes over https only/);
      expect(refused).not.toMatch(SECRET);
    }
  });

  it.each(['', `${TOKEN}\n`, `${TOKEN}\r\nHost: evil.test`, TOKEN.repeat(500), 7, { TOKEN }])(
    'are refused without being repeated: %j',
    async (token) => {
      for (const given of [token, () => token]) {
        const refused = await come({ url: 'https://git.test/a.git', token: given as string });
        expect(refused).toMatch(/^options\.invalid: Cannot open the store: token must be a text/);
        expect(refused).not.toMatch(SECRET);
      }
    },
  );

  it('are needed again for a branch, but not for a kept commit', async () => {
    const { url, caFile } = await serve();
    expect(await come({ url, caFile, token: TOKEN })).toBe('a');
    expect(await come({ url, caFile })).toMatch(/^store\.unavailable: .*asks for a credential/);
    const ref = scene.repository.git(['rev-parse', 'HEAD']);
    expect(await come({ url, caFile, ref })).toBe('a');
  });
});
