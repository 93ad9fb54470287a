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
    it('reads a repository, at the address that was judged and with the certificates that it is told', async () => {
      const { port, caFile, requests } = await serve();
      const asked: string[] = [];
      const store = scene.open({
        // A name that no resolver knows: git gets there by the address that it is told.
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

    it('reads where a branch leads when it is fetched, also where it has moved since it was asked for', async () => {
      const { port, caFile } = await serve();
      let calls = 0;
      const resolve = async (): Promise<string[]> => {
        calls += 1;
        // Asked before git asks where the branch is, and before it fetches that.
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

    it('connects to the address that was judged, and not to what the name is at besides', async () => {
      const { port, caFile, requests } = await serve();
      // The server is at 127.0.0.1, where the system's resolver finds it, and not at 127.0.0.9.
      const url = `https://localhost:${port}/repository`;
      expect(await come({ url, caFile, resolve: async () => ['127.0.0.9'] })).toContain('store.unavailable');
      expect(requests).toEqual([]);
      expect(await come({ url, caFile })).toBe('skills/a');
    });

    it('connects to the one address that was judged, whatever the name is at when it is asked again', async () => {
      const { port, caFile, requests } = await serve();
      const url = `https://git.test:${port}/repository`;
      // The first answer may be reached, where nobody is; each later one is the server's, and may not.
      const answers = ['127.0.0.9'];
      const allowPrivate = ['127.0.0.9'];
      const lookup = async (): Promise<{ address: string; family: number }[]> => [
        { address: answers.shift() ?? '127.0.0.1', family: 4 },
      ];
      const resolve: GitStoreOptions['resolve'] = async (host, options) =>
        await resolveChecked(host, { ...options, lookup });
      expect(await come({ url, caFile, resolve, allowPrivate })).toMatch(/^store\.unavailable: /);
      expect(await come({ url, caFile, resolve, allowPrivate })).toMatch(/^source\.refused: .*not for everybody/);
      expect(requests).toEqual([]);
      expect(await come({ url, caFile, resolve, allowPrivate: ['git.test'] })).toBe('skills/a');
    });

    it.each(['127.0.0.1', '2130706433', '0x7f.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]'])(
      'asks nothing of this machine unless that is allowed: %s',
      async (host) => {
        const { port, caFile, requests } = await serve();
        const url = `https://${host}:${port}/repository`;
        expect(await come({ url, caFile, resolve: undefined })).toMatch(/^source\.refused: .*not for everybody/);
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

    it('asks nothing of a host that may not be reached', async () => {
      const { port, caFile, requests } = await serve();
      const resolve = async (): Promise<string[]> => {
        throw new Error('a private address');
      };
      expect(await come({ url: `https://127.0.0.1:${port}/repository`, caFile, resolve })).toContain(
        'a private address',
      );
      expect(requests).toEqual([]);
    });

    it('trusts no certificate that it was not told of', async () => {
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
        /^source\.refused: .*sends on to another address/,
      );
      expect(other.requests).toEqual([]);
      // The control: git itself goes there when it is let.
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

    it('gives no credential to who asks for one, and waits for nobody to type it', async () => {
      const { port, caFile, requests } = await serve((_, response) => {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
        return true;
      });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile })).toMatch(
        /^store\.unavailable: .*asks who is there/,
      );
      expect(requests.filter((line) => line.includes('Basic'))).toEqual([]);
    });

    it('reads nothing from a server that only has files, which could send on by them', async () => {
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
    ])('is unavailable where the server says %i', async (status, code) => {
      const { port, caFile } = await serve((_, response) => {
        // git shows a text; it is the server's, and not what went wrong.
        response.writeHead(status, { 'content-type': 'text/plain' }).end('\u001b[31mred');
        return true;
      });
      const told = await come({ url: `https://git.test:${port}/repository`, caFile });
      expect(told).toContain(code);
      expect(told).toMatch(/repository '.*' not found|returned error: 50/);
      expect(told).not.toContain('\u001b');
    });

    it('waits no longer than it may for what it fetches', async () => {
      // A commit is fetched without a question before.
      const { port, caFile } = await serve(() => true);
      const options = { url: `https://git.test:${port}/repository`, caFile, ref: '1'.repeat(40) };
      expect(await come({ ...options, limits: { fetchMs: 500 } })).toMatch(/^store\.unavailable: .*takes too long/);
    });

    it('is unavailable where the server breaks off in the middle, and leaves nothing half-made', async () => {
      const { port, caFile } = await serve((request, response) => {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
        response.write('0008NAK\n');
        response.destroy();
        return true;
      });
      expect(await come({ url: `https://git.test:${port}/repository`, caFile })).toContain('store.unavailable');
    });

    it('speaks http only where the configuration says so', async () => {
      const { port, requests } = await serve(undefined, true);
      const url = `http://git.test:${port}/repository`;
      expect(() => scene.open({ url })).toThrow('git is spoken over https here');
      expect(requests).toEqual([]);
      expect(await come({ url, protocols: ['https', 'http'] })).toBe('skills/a');
    });
  });

  describe('over its own protocol', () => {
    it('reads from a git daemon where the configuration says so, at the address that was judged', async () => {
      const { port, stop } = await startDaemon(scene.folder);
      closing.push(stop);
      const url = `git://git.test:${port}/repository`;
      expect(() => scene.open({ url })).toThrow('git is spoken over https here');
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

    it.each(['overdue', 'aborted'])('leaves no process where it is %s', async (how) => {
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

    it('leaves no process where this one is killed', async () => {
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
    // By its own name: `git daemon` would leave it behind when it is killed.
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
      // Another test has the port.
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
