import { execFile, execFileSync, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import { resolveChecked } from '../../../../src/outgoing/resolve-checked.ts';
import type { GitStoreOptions } from '../../../../src/library/stores/git/git-store.ts';
import { commandLines } from '../../../fixtures/command-lines.ts';
import { describeWith, MISSING_GIT, MISSING_OPENSSL } from '../../../fixtures/describe-with.ts';
import { type AnswerInstead, type GitHttpServer, serveGit } from '../../../fixtures/git-http-server.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';
import { until } from '../../../fixtures/until.ts';

let scene: GitScene;
const closing: (() => Promise<void>)[] = [];

async function serve(instead?: AnswerInstead, isPlain = false): Promise<GitHttpServer> {
  const server = await serveGit(scene.folder, join(scene.folder, 'tls'), { isPlain, ...(instead ? { instead } : {}) });
  closing.push(async () => await server.close());
  return server;
}

async function come(options: Partial<GitStoreOptions>): Promise<string> {
  return await scene
    .open(options)
    .list()
    .then(
      ({ items }) => items.map(({ path }) => path).join(),
      (error: SkillcellError) => `${error.code}: ${error.message}`,
    );
}

describeWith('git store', MISSING_GIT ?? MISSING_OPENSSL, () => {
  beforeEach(() => {
    scene = setUpGit();
    scene.repository.commit({ 'skills/a/SKILL.md': skillText('a') });
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await scene.close();
  });

  describe('over https', () => {
    it('reads a repository, at the checked address and with the given certificates', async () => {
      const { port, caFile, requests } = await serve();
      const asked: string[] = [];
      const store = scene.open({
        // A name that no resolver knows: git connects to the given address.
        url: `https://git.test:${port}/repository`,
        caFile,
        resolve: async (host) => {
          asked.push(host);
          return ['127.0.0.1'];
        },
      });
      const { items } = await store.list();
      expect(items.map(({ path, origin }) => [path, origin.source])).toEqual([
        ['skills/a', `https://git.test:${port}/repository`],
      ]);
      const [item] = items;
      if (item === undefined) throw new Error('nothing was listed');
      expect((await store.open(item)).files).toHaveLength(1);
      expect(asked).toEqual(['git.test', 'git.test']);
      expect(requests.some((line) => line.startsWith('POST /repository/git-upload-pack'))).toBe(true);
    });

    it('reads a commit by its id', async () => {
      const { port, caFile } = await serve();
      const ref = scene.repository.git(['rev-parse', 'HEAD']);
      scene.repository.commit({ 'skills/b/SKILL.md': skillText('b') });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile, ref })).toBe('skills/a');
    });

    it('reads the state of a branch at the fetch, even if it moved after the query', async () => {
      const { port, caFile } = await serve();
      let calls = 0;
      const resolve = async (): Promise<string[]> => {
        calls += 1;
        // The host is resolved twice: before the query for the branch, and before the fetch.
        if (calls === 2) scene.repository.commit({ 'skills/b/SKILL.md': skillText('b') });
        return ['127.0.0.1'];
      };
      const { items } = await scene.open({ url: `https://git.test:${port}/repository`, caFile, resolve }).list();
      const commit = scene.repository.git(['rev-parse', 'HEAD']);
      expect(items.map(({ path, origin }) => [path, origin.commit])).toEqual([
        ['skills/a', commit],
        ['skills/b', commit],
      ]);
    });

    it('connects only to the checked address, not to other addresses of the name', async () => {
      const { port, caFile, requests } = await serve();
      // The server listens at 127.0.0.1, which the system's resolver returns, and not at 127.0.0.9.
      const url = `https://localhost:${port}/repository`;
      expect(await come({ url, caFile, resolve: async () => ['127.0.0.9'] })).toContain('store.unavailable');
      expect(requests).toEqual([]);
      expect(await come({ url, caFile })).toBe('skills/a');
    });

    it('connects only to the checked address, even if the name resolves to another one later', async () => {
      const { port, caFile, requests } = await serve();
      const url = `https://git.test:${port}/repository`;
      // The first answer is allowed, but nothing listens there; later answers are the server's address, which is not allowed.
      const answers = ['127.0.0.9'];
      const allowPrivate = ['127.0.0.9'];
      const lookup = async (): Promise<{ address: string; family: number }[]> => [
        { address: answers.shift() ?? '127.0.0.1', family: 4 },
      ];
      const resolve: GitStoreOptions['resolve'] = async (host, options) =>
        await resolveChecked(host, { ...options, lookup });
      expect(await come({ url, caFile, resolve, allowPrivate })).toMatch(/^store\.unavailable: /);
      expect(await come({ url, caFile, resolve, allowPrivate })).toMatch(/^source\.refused: .*not public/);
      expect(requests).toEqual([]);
      expect(await come({ url, caFile, resolve, allowPrivate: ['git.test'] })).toBe('skills/a');
    });

    it.each(['127.0.0.1', '2130706433', '0x7f.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]'])(
      'sends nothing to this machine unless that is allowed: %s',
      async (host) => {
        const { port, caFile, requests } = await serve();
        const url = `https://${host}:${port}/repository`;
        expect(await come({ url, caFile, resolve: undefined })).toMatch(/^source\.refused: .*not public/);
        expect(requests).toEqual([]);
      },
    );

    it('reads from this machine where that is allowed', async () => {
      const { port, caFile } = await serve();
      for (const host of ['127.0.0.1', '2130706433', 'localhost']) {
        const url = `https://${host}:${port}/repository`;
        const allowPrivate = [host === 'localhost' ? host : '127.0.0.1', '127.0.0.0/8', '::1/128'];
        expect(await come({ url, caFile, resolve: undefined, allowPrivate })).toBe('skills/a');
      }
    });

    it('sends nothing to a refused host', async () => {
      const { port, caFile, requests } = await serve();
      const resolve = async (): Promise<string[]> => {
        throw new Error('a private address');
      };
      expect(await come({ url: `https://127.0.0.1:${port}/repository`, caFile, resolve })).toContain(
        'a private address',
      );
      expect(requests).toEqual([]);
    });

    it('trusts only the given certificates', async () => {
      const { port, requests } = await serve();
      expect(await come({ url: `https://git.test:${port}/repository` })).toMatch(/^store\.unavailable: .*certificate/);
      expect(requests).toEqual([]);
    });

    it.each([301, 302, 308])('follows no redirect: %i', async (status) => {
      const other = await serve();
      const { port, caFile } = await serve((_, response) => {
        response
          .writeHead(status, {
            location: `https://git.test:${other.port}/repository/info/refs?service=git-upload-pack`,
          })
          .end();
        return true;
      });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile })).toMatch(
        /^source\.refused: .*redirects to another address/,
      );
      expect(other.requests).toEqual([]);
      // The control: git itself follows the redirect where it is allowed to.
      const settings = [
        `http.sslCAInfo=${caFile}`,
        `http.curloptResolve=git.test:${port}:127.0.0.1`,
        'http.followRedirects=true',
      ];
      const allowed = [
        '-c',
        `http.curloptResolve=git.test:${other.port}:127.0.0.1`,
        ...settings.flatMap((each) => ['-c', each]),
      ];
      await promisify(execFile)('git', [...allowed, 'ls-remote', `https://git.test:${port}/repository`], {
        env: { PATH: process.env['PATH'], HOME: '/dev/null' },
      });
      expect(other.requests.length).toBeGreaterThan(0);
    });

    it('sends no credential on request, and does not wait for input', async () => {
      const { port, caFile, requests } = await serve((_, response) => {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
        return true;
      });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile })).toMatch(
        /^store\.unavailable: .*asks for a credential/,
      );
      expect(requests.filter((line) => line.includes('Basic'))).toEqual([]);
    });

    it('reads nothing from a server of the dumb protocol', async () => {
      const { port, caFile } = await serve((_, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end(`${'a'.repeat(40)}\trefs/heads/main\n`);
        return true;
      });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile, ref: 'main' })).toContain(
        'store.unavailable',
      );
    });

    it.each([
      [404, 'store.unavailable'],
      [500, 'store.unavailable'],
      [503, 'store.unavailable'],
    ])('is unavailable where the server answers %i', async (status, code) => {
      const { port, caFile } = await serve((_, response) => {
        // git shows a text of the server, which does not explain the failure.
        response.writeHead(status, { 'content-type': 'text/plain' }).end('\u001b[31mred');
        return true;
      });
      const told = await come({ url: `https://git.test:${port}/repository`, caFile });
      expect(told).toContain(code);
      expect(told).toMatch(/repository '.*' not found|returned error: 50/);
      expect(told).not.toContain('\u001b');
    });

    it('stops a fetch at its time limit', async () => {
      // A fetch of a commit needs no query before it.
      const { port, caFile } = await serve(() => true);
      const options = { url: `https://git.test:${port}/repository`, caFile, ref: '1'.repeat(40) };
      expect(await come({ ...options, limits: { fetchMs: 500 } })).toMatch(/^store\.unavailable: .*takes too long/);
    });

    it('is unavailable where the server breaks off in the middle, and leaves nothing incomplete', async () => {
      const { port, caFile } = await serve((request, response) => {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
        response.write('0008NAK\n');
        response.destroy();
        return true;
      });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile })).toContain('store.unavailable');
    });

    it('uses http only where the configuration allows it', async () => {
      const { port, requests } = await serve(undefined, true);
      const url = `http://git.test:${port}/repository`;
      expect(() => scene.open({ url })).toThrow('the allowed protocols are https');
      expect(requests).toEqual([]);
      expect(await come({ url, protocols: ['https', 'http'] })).toBe('skills/a');
    });
  });

  describe('over its own protocol', () => {
    it('reads from a git daemon where the configuration allows it, at the checked address', async () => {
      const { port, stop } = await startDaemon(scene.folder);
      closing.push(stop);
      const url = `git://git.test:${port}/repository`;
      expect(() => scene.open({ url })).toThrow('the allowed protocols are https');
      const store = scene.open({ url, protocols: ['git'] });
      const { items } = await store.list();
      const [item] = items;
      if (item === undefined) throw new Error('nothing was listed');
      expect((await store.open(item)).files.map(({ path }) => path)).toEqual(['SKILL.md']);
      expect(item.origin.source).toBe(url);
      expect(await come({ url, protocols: ['git'], resolve: async () => ['127.0.0.9'] })).toContain(
        'store.unavailable',
      );
    });

    it.each(['overdue', 'aborted'])('leaves no process after it is %s', async (how) => {
      let connections = 0;
      const silent = createServer(() => {
        connections += 1;
      }).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      closing.push(async () => void silent.close());
      const { port } = silent.address() as AddressInfo;
      const url = `git://git.test:${port}/x`;
      const isOurs = (line: string): boolean => line.includes(`:${port}/x`);
      const store = scene.open({ url, protocols: ['git'], ...(how === 'overdue' ? { limits: { fetchMs: 500 } } : {}) });
      const controller = new AbortController();
      const listing = store.list({ signal: controller.signal }).catch((error: unknown) => String(error));
      await until(() => connections > 0, 'a connection');
      if (how === 'aborted') {
        expect(commandLines().some(isOurs)).toBe(true);
        controller.abort(new Error('no longer wanted'));
      }
      expect(await listing).toContain(how === 'overdue' ? 'takes too long' : 'no longer wanted');
      await until(() => !commandLines().some(isOurs), 'no process of git');
    });

    it('leaves no process after the host process is killed', async () => {
      let connections = 0;
      const silent = createServer(() => {
        connections += 1;
      }).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      closing.push(async () => void silent.close());
      const { port } = silent.address() as AddressInfo;
      const host = spawn(process.execPath, [join(import.meta.dirname, '../../../fixtures/git-host.ts')], {
        env: {
          ...process.env,
          GIT_HOST: JSON.stringify({ url: `git://127.0.0.1:${port}/x`, cache: scene.cacheFolder }),
        },
        stdio: 'ignore',
      });
      await until(() => connections > 0, 'a connection');
      host.kill('SIGKILL');
      await until(() => !commandLines().some((line) => line.includes(`:${port}/x`)), 'no process of git');
      expect(connections).toBe(1);
    });
  });
});

async function startDaemon(folder: string): Promise<{ port: number; stop(): Promise<void> }> {
  for (let tries = 0; tries < 10; tries += 1) {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    // Started directly: `git daemon` would leave this child behind when it is killed.
    const program = join(execFileSync('git', ['--exec-path']).toString().trim(), 'git-daemon');
    const daemon = spawn(
      program,
      [
        '--listen=127.0.0.1',
        `--port=${port}`,
        '--export-all',
        '--reuseaddr',
        '--log-destination=stderr',
        '--verbose',
        `--base-path=${folder}`,
        folder,
      ],
      { env: { PATH: process.env['PATH'], HOME: '/dev/null' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const isReady = await new Promise<boolean>((resolve) => {
      daemon.stderr.on('data', (piece: Buffer) => {
        if (piece.includes('Ready to rumble')) resolve(true);
      });
      // Another test uses the port.
      daemon.once('exit', () => resolve(false));
    });
    if (!isReady) continue;
    return {
      port,
      async stop() {
        daemon.kill();
        if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
      },
    };
  }
  throw new Error('no port for a daemon');
}
