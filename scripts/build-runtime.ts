import { build, transform, type Plugin } from 'esbuild';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkLanguage } from './check-language.ts';
import { LOOSE_FOLDERS } from './loose-folders.ts';
import { readLanguages } from '../src/languages/read-languages.ts';

/** What a runtime bundle consists of; `manifest.json` at its top. */
export interface RuntimeManifest {
  /** `sha256:<64 hex>` over the sorted lines `<sha256>  <path>` of all files. */
  digest: string;
  /** 64 hex digits by path below the bundle's folder. */
  files: Record<string, string>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
/** The same code as ES modules, which become one scope: that loads in half the time, and what nobody calls can be left out. */
const MODULES: Record<string, string> = {
  re2js: join(root, 'node_modules/re2js/build/index.js'),
  yaml: join(root, 'node_modules/yaml/browser/dist/index.js'),
};
/** Loads at first use as well, but is too small for a file of its own: opening one costs more than reading past it. */
const INLINED = 'gray-matter';
/** What few jobs load is no part of what each of them reads: files beside the entry, by name. */
const APART = { session: 'session/serve-session', clear: 'files/clear-attempt' } as const;
const COMMON = {
  absWorkingDir: root,
  alias: MODULES,
  bundle: true,
  platform: 'node',
  target: 'node24',
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'silent',
  minify: true,
  write: true,
} as const;

/**
 * Builds what runs inside a sandbox: `entry.cjs`, what stands apart from it, `compile-ahead.cjs`, `list-installed.cjs`, the packages that it loads at
 * first use, and the loose files of `runtime/`. The folder appears by one rename and must not be there before.
 *
 * @param folder where the bundle goes
 * @returns the manifest, which is written too
 */
export async function buildRuntime(folder: string): Promise<RuntimeManifest> {
  await mkdir(dirname(folder), { recursive: true });
  const staging = await mkdtemp(`${folder}.building-`);
  try {
    await bundleForSandbox('runtime/entry.ts', join(staging, 'entry.cjs'));
    await bundleForSandbox('runtime/rehearse/compile-ahead.ts', join(staging, 'compile-ahead.cjs'));
    await bundleForSandbox('runtime/languages/list-installed.ts', join(staging, 'list-installed.cjs'));
    for (const [name, source] of Object.entries(APART))
      await bundleForSandbox(`runtime/${source}.ts`, join(staging, `${name}.cjs`));
    const languages = readLanguages(join(root, 'runtime/languages'));
    languages.forEach(checkLanguage);
    const folders = languages.map(({ name }) => join('languages', name));
    for (const name of [...LOOSE_FOLDERS, ...folders]) await copyLoose(join('runtime', name), join(staging, name));
    const manifest = await describeFiles(staging);
    await writeFile(join(staging, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    // A sandbox started by root reads the bundle as another user, whatever the umask was.
    await chmod(staging, 0o755);
    await rename(staging, folder);
    return manifest;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Bytes of the entry of a bundle, with all its parts. */
export async function entryBytes(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name === 'entry.cjs' || name.startsWith('entry-'));
  return (await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))).reduce((a, b) => a + b);
}

/**
 * Bundles one source file as a sandbox gets it: CommonJS, and beside it its parts that load at first use (`<name>-*.cjs`: what a
 * job does not need is neither read nor compiled) and the packages that do.
 *
 * @param source path below the root of the checkout
 * @param outfile absolute path of the result
 */
export async function bundleForSandbox(source: string, outfile: string): Promise<void> {
  const lazy = new Set<string>();
  const folder = dirname(outfile);
  const name = basename(outfile, '.cjs');
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: { [name]: source },
    outdir: folder,
    // Only modules can be split.
    format: 'esm',
    splitting: true,
    outExtension: { '.js': '.cjs' },
    chunkNames: `${name}-[name]-[hash]`,
    write: false,
    plugins: [lazyPackages(lazy), apart, withoutEngines, withoutAdvice],
  });
  for (const { path, text } of outputFiles) await writeFile(path, escapeOthers(await asCommonJs(text)));
  for (const lazyName of lazy) {
    await build({
      ...COMMON,
      stdin: { contents: packageSource(lazyName), resolveDir: root },
      outfile: join(folder, packageFile(lazyName)),
      format: 'cjs',
    });
  }
}

async function asCommonJs(code: string): Promise<string> {
  const { target, platform, charset, minify } = COMMON;
  // `import()` becomes a promise of `require`, which starts no second module loader.
  const supported = { 'dynamic-import': false };
  return (await transform(code, { target, platform, charset, minify, supported, format: 'cjs' })).code;
}

/**
 * Escapes what is left outside of ASCII, which stands in regular expressions: V8 compiles a text of single bytes in four fifths of
 * the time.
 */
function escapeOthers(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Turns `require('name')` in a `lazy-*.ts` file, and `import('name')` anywhere into the load of a file beside the entry; what the
 * cage of gray-matter requires stays. On the host the same sources load the package itself: see
 * docs/decisions/2026-11-22-lazy-modules.md.
 */
function lazyPackages(found: Set<string>): Plugin {
  const hostLine = 'const require = createRequire(import.meta.url);';
  return {
    name: 'lazy-packages',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /[\\/](?:lazy-[a-z-]+|front-matter)\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        if (!source.includes(hostLine)) throw new Error(`Cannot bundle ${path}: the line is missing, \`${hostLine}\`.`);
        return { contents: source.replace(hostLine, ''), loader: 'ts' };
      });
      onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
        const ours = importer.startsWith(root) && !importer.includes('node_modules');
        if (
          !ours ||
          path === INLINED ||
          path.startsWith('node:') ||
          (kind !== 'require-call' && kind !== 'dynamic-import')
        )
          return undefined;
        found.add(path);
        return { path: `./${packageFile(path)}`, external: true };
      });
    },
  };
}

/** The entry loads what stands apart from the file beside it. */
const apart: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    for (const [name, source] of Object.entries(APART))
      onResolve({ filter: new RegExp(`/${source}\\.ts$`) }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: `./${name}.cjs`, external: true } : undefined,
      );
  },
};

/** gray-matter splits and parses nothing here: without its engines no parser that runs code comes into a sandbox. */
const withoutEngines: Plugin = {
  name: 'without-engines',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]gray-matter[\\/]lib[\\/]engines\.js$/ }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** Codes of errors that only a host has. */
const HOST_CODES = /'(?:archive|engine|eval|image|mcp|session)\.[\w-]+': \{[^{}]*\},/g;

/** What helps people and callers with an error stands on the host, which knows the codes as well; a sandbox needs the exit codes of its own only. */
const withoutAdvice: Plugin = {
  name: 'without-advice',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]error-registry\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source
        .replaceAll(/advice:\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g, "advice: ''")
        .replaceAll(HOST_CODES, '')
        .replaceAll(/\b(?:http: \d+|retry: (?:true|false)|ofRunner: true),?/g, '');
      if (contents.length > source.length * 0.75) throw new Error(`Cannot bundle ${path}: its advice was not found.`);
      return { contents, loader: 'ts' };
    });
    onLoad({ filter: /[\\/]library-errors\.ts$/ }, () => ({ contents: 'export const LIBRARY_ERRORS = {};' }));
  },
};

/** zod says what is wrong in English; the other languages are the larger part of it. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

function packageSource(name: string): string {
  return name in MODULES ? `export * from '${name}'` : `module.exports = require('${name}')`;
}

function packageFile(name: string): string {
  return `packages/${name.replaceAll('/', '-')}.cjs`;
}

async function copyLoose(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(join(root, from), { withFileTypes: true })) {
    const source = join(from, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== '__pycache__') await copyLoose(source, join(to, entry.name));
    } else if (/(?<!\.d)\.ts$/.test(entry.name)) {
      // `.mts` stays as it is: the executor warms Node's own type stripping up with it.
      const outfile = join(to, entry.name.replace(/ts$/, 'mjs'));
      // Our own code is to be read by whom it shows in a stack; a package is only to be loaded fast.
      const minify = basename(from) === 'packages';
      await build({ ...COMMON, entryPoints: [source], outfile, format: 'esm', minify, plugins: [englishOnly] });
    } else {
      await writeFile(join(to, entry.name), await readFile(join(root, source)), { mode: 0o644 });
    }
  }
}

async function describeFiles(folder: string): Promise<RuntimeManifest> {
  const files: Record<string, string> = {};
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  for (const path of paths.toSorted()) {
    await chmod(join(folder, path), 0o644);
    files[path] = createHash('sha256')
      .update(await readFile(join(folder, path)))
      .digest('hex');
  }
  const lines = Object.entries(files).map(([path, digest]) => `${digest}  ${path}\n`);
  return { digest: `sha256:${createHash('sha256').update(lines.join('')).digest('hex')}`, files };
}
