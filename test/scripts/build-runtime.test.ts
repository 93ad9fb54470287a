import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRuntime, bundleForSandbox, entryBytes, type RuntimeManifest } from '../../scripts/build-runtime.ts';
import { checkoutRuntime } from '../../scripts/checkout-runtime.ts';
import { readFrontMatter as readOnHost } from '../../src/skills/parse/front-matter.ts';
import { ensureRuntime } from '../../src/sandboxes/runtime-bundle.ts';
import { copyCheckout } from '../fixtures/checkout-copy.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('buildRuntime()', () => {
  let parent: string;
  let folder: string;
  let manifest: RuntimeManifest;

  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), 'skillcell-bundle-'));
    folder = join(parent, 'first');
    manifest = await buildRuntime(folder);
  });

  afterAll(() => rmSync(parent, { recursive: true }));

  const entryParts = (): string[] => Object.keys(manifest.files).filter((path) => /^entry(?:-.*)?\.cjs$/.test(path));

  it('counts the bytes of the entry with its parts and no name of the machine that built it', async () => {
    const bytes = entryParts().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(await entryBytes(folder)).toBe(bytes);
    for (const path of Object.keys(manifest.files)) {
      expect(readFileSync(join(folder, path), 'latin1').includes(root), path).toBe(false);
    }
  });

  it('lists every file with its digest, and ends in the same digest each time', async () => {
    for (const [path, digest] of Object.entries(manifest.files)) {
      expect(
        createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex'),
        path,
      ).toBe(digest);
    }
    const second = await buildRuntime(join(parent, 'second'));
    expect(second).toEqual(manifest);
  });

  it('gives a copy of the checkout whose packages are a link the same bundle', () => {
    // The bundler reads the settings of the compiler.
    using copy = copyCheckout({ 'tsconfig.json': join(root, 'tsconfig.json') });
    const program = `import { buildRuntime } from './scripts/build-runtime.ts';
      process.stdout.write((await buildRuntime(process.cwd() + '/bundle')).digest);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: copy.folder,
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual([manifest.digest, '']);
  });

  it('loads neither readers nor checks of skills for a job without skills', () => {
    const program = `process.on('exit', () => console.log(Object.keys(require.cache).join('\\n')));
process.argv = ['node', 'entry.cjs', '--level=none', '--root=/nowhere', '--language=none'];
require(${JSON.stringify(join(folder, 'entry.cjs'))});`;
    const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    const loaded = stdout.trim().split('\n');
    const holds = (text: string): string[] =>
      Object.keys(manifest.files).filter(
        (path) => /^entry.*cjs$/.test(path) && readFileSync(join(folder, path), 'utf8').includes(text),
      );
    expect(loaded.some((path) => path.includes('serve-channel'))).toBe(true);
    // A marker of the renderer, a field of the descriptor's schema, a sentence of the repair message.
    for (const text of ['[END ACTIVE SKILLS]', 'custom_skills_root', 'give the whole corrected program']) {
      expect(holds(text), text).not.toEqual([]);
      for (const path of holds(text)) expect(loaded, text).not.toContain(join(folder, path));
    }
  });

  it('keeps heavy packages outside the entry, each in its own file', () => {
    const require = createRequire(import.meta.url);
    const entry = entryParts()
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    const { pack } = require(join(folder, 'packages/tar-stream.cjs')) as { pack: unknown };
    expect(pack).toBeTypeOf('function');
    expect(entry).toContain('require("./packages/tar-stream.cjs")');
    expect(entry).not.toContain('createRequire(');
  });

  it('carries gray-matter without its parser engines', () => {
    const parts = entryParts().map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(parts.filter((text) => text.includes('gray-matter engine'))).toHaveLength(1);
    for (const text of parts) expect(text).not.toMatch(/esprima|safeLoad/);
  });

  it('bundles the loader of gray-matter so that it can split frontmatter', async () => {
    const require = createRequire(import.meta.url);
    const path = join(parent, 'cage', 'front-matter.cjs');
    mkdirSync(dirname(path));
    await bundleForSandbox('src/skills/parse/front-matter.ts', path);
    const { readFrontMatter } = require(path) as { readFrontMatter: typeof readOnHost };
    for (const text of ['---\nname: a\n---\nBody.\n', '---js\n{}\n---\nBody.\n']) {
      const { ok, ...rest } = readFrontMatter(text, { recover: false });
      const onHost = readOnHost(text, { recover: false });
      expect(ok, text).toBe(onHost.ok);
      expect([ok, 'body' in rest && rest.body], text).toEqual([onHost.ok, 'body' in onHost && onHost.body]);
    }
  });

  it('carries executors as modules that start without the packages of the project', () => {
    expect(manifest.files).toHaveProperty(['languages/javascript/session/session-main.mjs']);
    expect(manifest.files).toHaveProperty(['languages/javascript/sample-module.mts']);
    expect(manifest.files).toHaveProperty(['languages/python/hold/sitecustomize.py']);
  });
});

describe('checkoutRuntime()', () => {
  it('gives two concurrent starts the same complete bundle', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'skillcell-cache-'));
    try {
      const [first, second] = await Promise.all([checkoutRuntime(cache), checkoutRuntime(cache)]);
      expect(first).toBe(second);
      expect(existsSync(join(first, 'manifest.json'))).toBe(true);
      const before = statSync(join(cache, 'current.json')).mtimeMs;
      expect(await checkoutRuntime(cache)).toBe(first);
      expect(statSync(join(cache, 'current.json')).mtimeMs).toBe(before);
    } finally {
      rmSync(cache, { recursive: true });
    }
  });
});

describe('ensureRuntime()', () => {
  it('finds the bundle of the checkout', async () => {
    const bundle = await ensureRuntime();
    expect(readFileSync(join(bundle.folder, 'entry.cjs')).length).toBeGreaterThan(100);
    expect(Object.keys(bundle.files)).toContain('entry.cjs');
    expect(bundle.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
