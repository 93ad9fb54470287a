import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { wrap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { pruneRuntimeCache } from '../../../src/sandboxes/local/prune-runtime-cache.ts';
import { cachedRuntime } from '../../../src/sandboxes/local/runtime-cache.ts';
import { ensureRuntime, type RuntimeBundle } from '../../../src/sandboxes/runtime-bundle.ts';
import { requireLevel } from '../../fixtures/levels.ts';

describe('the copy of Node and the bundle for sandboxes', () => {
  let cache: string;
  let bundle: RuntimeBundle;
  let folder: string;
  beforeAll(async () => {
    cache = mkdtempSync(join(tmpdir(), 'cache-'));
    chmodSync(cache, 0o755);
    bundle = await ensureRuntime();
    folder = await cachedRuntime(bundle, cache);
  });
  afterAll(() => rmSync(cache, { recursive: true }));

  it('is created once for concurrent starts', async () => {
    const other = mkdtempSync(join(tmpdir(), 'cache-'));
    const start = async (): Promise<number> => statSync(await cachedRuntime(bundle, other)).ino;
    const [first, second] = await Promise.all([start(), start()]);
    expect(statSync(await cachedRuntime(bundle, other)).ino).toBe(first);
    expect(second).toBe(first);
    rmSync(other, { recursive: true });
  });

  const entry = (): string => readFileSync(join(folder, 'entry.cjs'), 'utf8');
  const original = (): string => readFileSync(join(bundle.folder, 'entry.cjs'), 'utf8');

  it('is created once and reused', async () => {
    const before = statSync(folder).ino;
    expect(await cachedRuntime(bundle, cache)).toBe(folder);
    expect(statSync(folder).ino).toBe(before);
    expect(entry()).toBe(original());
    expect(readdirSync(cache).filter((name) => name.startsWith('.new-'))).toEqual([]);
  });

  it('is removed if no host has started to use it for 30 days', async () => {
    const other = await cachedRuntime({ ...bundle, digest: 'sha256:unused' }, cache);
    const day = 24 * 60 * 60 * 1000;
    utimesSync(other, new Date(Date.now() - 31 * day), new Date(Date.now() - 31 * day));
    utimesSync(folder, new Date(Date.now() - 31 * day), new Date(Date.now() - 31 * day));
    // A changed key makes this process search for the copy on disk, like a new process.
    await cachedRuntime(bundle, `${cache}/`);
    await pruneRuntimeCache(cache);
    expect(existsSync(other)).toBe(false);
    expect(await cachedRuntime(bundle, cache)).toBe(folder);
    expect(entry()).toBe(original());
    await pruneRuntimeCache(cache, Date.now() + 29 * day);
    expect(existsSync(folder)).toBe(true);
    expect(readdirSync(cache).some((name) => name.startsWith('node-binary-'))).toBe(true);
  });

  it('contains a working Node and the filter', () => {
    expect(execFileSync(join(folder, 'bin', 'node'), ['--version'], { encoding: 'utf8' }).trim()).toBe(process.version);
    expect(statSync(join(folder, 'seccomp.bpf')).size).toBeGreaterThan(100);
  });

  it('shares its Node with the copies of other bundles, and replaces a changed Node', async () => {
    const other = await cachedRuntime({ ...bundle, digest: 'sha256:other' }, cache);
    const [own, theirs] = [folder, other].map((path) => join(path, 'bin', 'node')) as [string, string];
    expect(statSync(theirs).ino).toBe(statSync(own).ino);
    appendFileSync(own, 'more');
    expect(await cachedRuntime(bundle, cache)).toBe(folder);
    expect(readFileSync(own).equals(readFileSync(process.execPath))).toBe(true);
    expect(await cachedRuntime({ ...bundle, digest: 'sha256:other' }, cache)).toBe(other);
    expect(statSync(theirs).ino).toBe(statSync(own).ino);
  });

  it('contains a code cache of the entry that V8 accepts, and rejects for another source', () => {
    const code = readFileSync(join(folder, 'code-cache', 'entry.cjs.code'));
    const source = wrap(entry());
    expect(new Script(source, { cachedData: code }).cachedDataRejected).toBe(false);
    expect(new Script(`${source}\n`, { cachedData: code }).cachedDataRejected).toBe(true);
  });

  it('can be read by everyone and written by its owner only', () => {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const status = statSync(join(folder, name));
      expect(status.mode & 0o022, name).toBe(0);
      expect(status.mode & 0o444, name).toBe(0o444);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  it.each<[string, () => void]>([
    ['a changed entry', () => appendFileSync(join(folder, 'entry.cjs'), '// more')],
    [
      'an entry that was changed without a change of size and time',
      () => {
        const path = join(folder, 'entry.cjs');
        const { atime, mtime } = statSync(path);
        const text = readFileSync(path, 'utf8');
        unlinkSync(path);
        writeFileSync(path, text.replace('skills', 'Skills'));
        utimesSync(path, atime, mtime);
      },
    ],
    ['a missing entry', () => unlinkSync(join(folder, 'entry.cjs'))],
    ['a missing filter', () => unlinkSync(join(folder, 'seccomp.bpf'))],
    ['a changed launch script', () => appendFileSync(join(folder, 'launch', 'start-executor.sh'), '\n')],
    ['an incomplete copy', () => unlinkSync(join(folder, '.complete'))],
  ])('is created again after %s', async (_name, tamper) => {
    tamper();
    expect(await cachedRuntime(bundle, cache)).toBe(folder);
    expect(entry()).toBe(original());
    expect(await cachedRuntime(bundle, cache)).toBe(folder);
  });

  /** Replaces a file of the copy, and forges the recorded identity of the copy. */
  const plant = (name: string, bytes: Uint8Array): void => {
    writeFileSync(join(folder, name), bytes);
    const { size, ino, mtimeNs, uid } = statSync(join(folder, name), { bigint: true });
    const note = readFileSync(join(folder, '.complete'), 'utf8').split('\n');
    const at = note.findIndex((line) => line.startsWith(`${name} `));
    expect(at).toBeGreaterThanOrEqual(0);
    writeFileSync(join(folder, '.complete'), note.with(at, `${name} ${size} ${ino} ${mtimeNs} ${uid}`).join('\n'));
  };
  let keys = 0;
  /** Searches for the copy like a new process: a changed key bypasses the memory of this one. */
  const asNewProcess = (): Promise<string> => cachedRuntime(bundle, `${cache}${'/'.repeat((keys += 1))}`);

  it.each(['seccomp.bpf', 'launch/start-executor.sh', 'entry.cjs'])(
    'is created again by a process that finds changed bytes in %s, despite a forged identity',
    async (name) => {
      const own = readFileSync(join(folder, name));
      // The same bytes with a forged identity are accepted, which proves that the forgery works.
      plant(name, own);
      const { ino } = statSync(folder);
      await asNewProcess();
      expect(statSync(folder).ino).toBe(ino);
      // A filter that allows all: one instruction that returns SECCOMP_RET_ALLOW.
      plant(name, Buffer.from([6, 0, 0, 0, 0, 0, 0xff, 0x7f]));
      await asNewProcess();
      expect(readFileSync(join(folder, name)).equals(own)).toBe(true);
    },
  );

  it('is created again by a process that used it before, if the filter and the identity are replaced', async () => {
    await cachedRuntime(bundle, cache);
    const own = readFileSync(join(folder, 'seccomp.bpf'));
    plant('seccomp.bpf', Buffer.from([6, 0, 0, 0, 0, 0, 0xff, 0x7f]));
    await cachedRuntime(bundle, cache);
    expect(readFileSync(join(folder, 'seccomp.bpf')).equals(own)).toBe(true);
  });

  it('is created by concurrent starts without an incomplete copy in between', async () => {
    rmSync(folder, { recursive: true });
    const made = await Promise.all([1, 2, 3].map(() => cachedRuntime(bundle, cache)));
    expect(new Set(made)).toEqual(new Set([folder]));
    expect(entry()).toBe(original());
    expect(readdirSync(cache).filter((name) => name.startsWith('.new-'))).toEqual([]);
  });

  it('lets root start sandboxes from a bundle below a folder that only root can read', async (context) => {
    requireLevel(context, 'namespace');
    context.skip(process.getuid?.() !== 0, 'only root drops to another user before bubblewrap');
    const secret = mkdtempSync(join(tmpdir(), 'private-'));
    // A unique digest, so that no copy exists yet.
    const own = { ...bundle, folder: join(secret, 'bundle'), digest: `sha256:${secret}` };
    try {
      chmodSync(secret, 0o700);
      cpSync(bundle.folder, own.folder, { recursive: true });
      await using orchestrator = createOrchestrator({ runners: [createLocalRunner({ bundle: own })] });
      const job = { isolation: 'namespace' as const, code: 'export default 1' };
      expect(await orchestrator.exec(job)).toMatchObject({ outcome: 'succeeded', value: 1 });
    } finally {
      rmSync(await cachedRuntime(own), { recursive: true });
      rmSync(secret, { recursive: true });
    }
  });
});
