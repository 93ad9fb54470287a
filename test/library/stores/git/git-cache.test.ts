import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SkillcellError } from '../../../../src/contracts/errors/skillcell-error.ts';
import { GIT_LIMITS } from '../../../../src/library/stores/git/git-limits.ts';
import type { GitStore } from '../../../../src/library/stores/git/git-store.ts';
import { describeWith, MISSING_GIT, MISSING_OPENSSL } from '../../../fixtures/describe-with.ts';
import { serveGit } from '../../../fixtures/git-http-server.ts';
import { makeRepository } from '../../../fixtures/git-repository.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';
import { startTcpProxy } from '../../../fixtures/tcp-proxy.ts';
import { until } from '../../../fixtures/until.ts';

const HOST = join(import.meta.dirname, '../../../fixtures/git-host.ts');

let scene: GitScene;

const kept = (): string => join(scene.cacheFolder, 'git');

async function come(store: GitStore): Promise<string> {
  return await store.list().then(
    ({ items }) => items.map(({ path }) => path).join(),
    ({ code, message }: SkillcellError) => `${code}: ${message}`,
  );
}

/** Starts a process that reads a repository into the cache. */
function startHost(url: string): { ended: Promise<{ code: number | null; printed: string }>; kill(): void } {
  const host = spawn(process.execPath, [HOST], {
    env: { ...process.env, GIT_HOST: JSON.stringify({ url, cache: scene.cacheFolder }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  host.stdout.on('data', (piece: Buffer) => {
    printed += piece.toString();
  });
  return {
    ended: once(host, 'close').then(([code]) => ({ code: code as number | null, printed })),
    kill: () => void host.kill('SIGKILL'),
  };
}

describeWith('git cache', MISSING_GIT, () => {
  beforeEach(() => {
    scene = setUpGit();
  });
  afterEach(async () => await scene.close());

  it.each([
    ['a byte of a pack has changed', (pack: string) => flip(pack)],
    ['a pack is cut short', (pack: string) => truncateSync(pack, 100)],
    ['a pack is empty', (pack: string) => writeOver(pack, '')],
    ['the pack is missing', (pack: string) => rmSync(pack)],
    ['the index is missing', (pack: string) => rmSync(pack.replace(/pack$/, 'idx'))],
    ['the repository is missing', (pack: string) => rmSync(join(pack, '../../..'), { recursive: true })],
  ])('is filled again where %s', async (_, spoil) => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/x': randomBytes(2_000) });
    expect(await come(scene.open())).toBe('a');
    const [name = ''] = readdirSync(kept());
    const packs = join(kept(), name, 'objects', 'pack');
    const pack = readdirSync(packs).find((each) => each.endsWith('.pack')) ?? '';
    const before = readFileSync(join(packs, pack));
    spoil(join(packs, pack));
    const store = scene.open();
    const [item] = (await store.list()).items;
    if (item === undefined) throw new Error('nothing was listed');
    expect((await store.open(item)).files.map(({ path }) => path)).toEqual(['SKILL.md', 'x']);
    expect(readFileSync(join(packs, pack)).equals(before)).toBe(true);
    expect(readdirSync(kept())).toEqual([name]);
  });

  it('is neither read nor written where other users may write it', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    chmodSync(scene.cacheFolder, 0o777);
    expect(await come(scene.open())).toMatch(/^store\.unavailable: .*others may write it/);
    expect(readdirSync(scene.cacheFolder)).toEqual([]);
    chmodSync(scene.cacheFolder, 0o755);
    mkdirSync(kept());
    chmodSync(kept(), 0o777);
    expect(await come(scene.open())).toMatch(/^store\.unavailable: .*others may write it/);
    chmodSync(kept(), 0o755);
    expect(await come(scene.open())).toBe('a');
    expect([scene.cacheFolder, kept()].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('evicts the least recently used repositories over its limit, but none that is in use', async () => {
    const limits = { ...GIT_LIMITS, keptBytes: 1_000_000 };
    const commits: string[] = [];
    const fill = (): string => {
      const id = scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/x': randomBytes(400_000) });
      commits.push(id);
      return id;
    };
    const stores = [fill(), fill(), fill(), fill()].map((ref) => scene.open({ ref, limits }));
    for (const store of stores) expect(await come(store)).toBe('a');
    expect(readdirSync(kept())).toHaveLength(4);
    for (const store of stores) {
      const [item] = (await store.list()).items;
      if (item === undefined) throw new Error('nothing was listed');
      expect((await store.open(item)).files).toHaveLength(2);
    }
    for (const store of stores) await store.close();
    // Used again, so that it is not the oldest.
    const [first = ''] = commits;
    const again = scene.open({ ref: first, limits });
    expect(await come(again)).toBe('a');
    await again.close();
    const last = fill();
    expect(await come(scene.open({ limits }))).toBe('a');
    const left = new Set(readdirSync(kept()).map((name) => name.split('-')[1]));
    expect(left).toEqual(new Set([first, last]));
  });

  it('releases earlier commits of a branch', async () => {
    const limits = { ...GIT_LIMITS, keptBytes: 1_000_000 };
    const store = scene.open({ limits });
    for (let index = 0; index < 6; index += 1) {
      scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/x': randomBytes(400_000) });
      expect(await come(store)).toBe('a');
    }
    expect(readdirSync(kept()).length).toBeLessThanOrEqual(3);
  });

  it('serves processes that read two repositories at once', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/x': randomBytes(100_000) });
    const other = makeRepository(join(scene.folder, 'other'));
    other.commit({ 'b/SKILL.md': skillText('b'), 'b/x': randomBytes(100_000) });
    const urls = [scene.repository.path, other.path, scene.repository.path, other.path];
    const outcomes = await Promise.all(urls.map(async (url) => await startHost(url).ended));
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(outcomes.map(({ printed }) => printed.slice(0, 9))).toEqual([
      'a sha256:',
      'b sha256:',
      'a sha256:',
      'b sha256:',
    ]);
    expect(new Set(outcomes.map(({ printed }) => printed)).size).toBe(2);
    expect(readdirSync(kept()).filter((name) => /^[0-9a-f]{32}-[0-9a-f]{40}$/.test(name))).toHaveLength(2);
    expect(readdirSync(kept())).toHaveLength(2);
  });
});

describeWith('git cache', MISSING_GIT ?? MISSING_OPENSSL, () => {
  beforeEach(() => {
    scene = setUpGit();
  });
  afterEach(async () => await scene.close());

  it('recovers after a process was killed in the middle of a fetch', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a'), 'a/x': randomBytes(1_000_000) });
    const server = await serveGit(scene.folder, join(scene.folder, 'tls'), { isPlain: true });
    const proxy = await startTcpProxy(server.port);
    try {
      const url = `http://127.0.0.1:${proxy.port}/repository`;
      proxy.fault = { stallAfter: 500_000 };
      const killed = startHost(url);
      await until(() => proxy.met > 0, 'half of the fetch');
      const torn = readdirSync(kept());
      expect(torn).toEqual([expect.stringMatching(/^\..*\.part$/)]);
      killed.kill();
      expect((await killed.ended).printed).toBe('');
      proxy.fault = 'none';
      expect(await startHost(url).ended).toMatchObject({ code: 0, printed: expect.stringContaining('a sha256:') });
      expect(readdirSync(kept())).toEqual([expect.stringMatching(/^[0-9a-f]{32}-[0-9a-f]{40}$/)]);
    } finally {
      await proxy.close();
      await server.close();
    }
  });
});

function flip(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeOver(path, bytes);
}

function writeOver(path: string, content: string | Uint8Array): void {
  chmodSync(path, 0o600);
  writeFileSync(path, content);
}
