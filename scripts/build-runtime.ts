import { build, transform, type Plugin } from 'esbuild';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkLanguage } from './check-language.ts';
import { LOOSE_FOLDERS } from './loose-folders.ts';
import { readLanguages } from '../src/languages/read-languages.ts';

/** The contents of a runtime bundle; stored as `manifest.json` at its top. */
export interface RuntimeManifest {
  /** `sha256:<64 hex>` over the sorted lines `<sha256>  <path>` of all files. */
  digest: string;
  /** 64 hex digits by path below the bundle's folder. */
  files: Record<string, string>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
/** The ES modules of two packages. esbuild puts them into one scope: they load in half the time, and it can remove unused functions. */
const MODULES: Record<string, string> = {
  re2js: join(root, 'node_modules/re2js/build/index.js'),
  yaml: join(root, 'node_modules/yaml/browser/dist/index.js'),
};
/** Also loaded at first use, but too small for its own file: opening a file costs more than reading past this code. */
const INLINED = 'gray-matter';
/** Modules that few jobs load are files beside the entry, by name, so that other jobs do not read them. */
const APART = {
  session: 'session/serve-session',
  clear: 'files/clear-attempt',
  network: 'network/open-network',
} as const;
/** Files whose `require` calls load a package at first use. */
export const LAZY_FILES: RegExp = /[\\/](?:lazy-[a-z-]+|front-matter)\.ts$/;
const HOST_LINE = 'const require = createRequire(import.meta.url);';
/** Loose files that Node preloads, or that are loaded synchronously. */
const COMMON_JS: ReadonlySet<string> = new Set(['hold.ts', 'bridge.ts']);
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
  // The names of its parts depend on the paths of packages. In a copy of the checkout, the packages are a link, and the bundle is the same.
  preserveSymlinks: true,
} as const;

/**
 * Builds the bundle that runs inside a sandbox: `entry.cjs` and its separate parts, `compile-ahead.cjs`, `list-installed.cjs`, the packages that it
 * loads at first use, and the loose files of `runtime/`. The folder appears by one rename and must not exist before.
 *
 * @param folder destination of the bundle
 * @returns the manifest, which is also written
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
    // A sandbox started by root reads the bundle as another user, so permissions must not depend on the umask.
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
 * Bundles one source file for a sandbox: CommonJS, and beside it the parts and packages that load at first use (`<name>-*.cjs`), so that a job
 * neither reads nor compiles code that it does not need.
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
    // esbuild can split only ES modules.
    format: 'esm',
    splitting: true,
    outExtension: { '.js': '.cjs' },
    chunkNames: `${name}-[name]-[hash]`,
    write: false,
    plugins: [lazyPackages(lazy), apart, withoutEngines, withoutHostModules, withoutAdvice],
  });
  for (const { path, text } of outputFiles) await writeFile(path, escapeOthers(await asCommonJs(text)));
  for (const lazyName of lazy) await bundlePackage(lazyName, join(folder, packageFile(lazyName)));
}

/** Bundles a package into one CommonJS file. @returns paths of the modules in it */
export async function bundlePackage(name: string, outfile: string): Promise<string[]> {
  const contents = name in MODULES ? `export * from '${name}'` : `module.exports = require('${name}')`;
  const stdin = { contents, resolveDir: root };
  const { metafile } = await build({
    ...COMMON,
    ...{ stdin, outfile, format: 'cjs', plugins: [withoutEngines], metafile: true },
  });
  return Object.keys(metafile.inputs).map((path) => join(root, path));
}

async function asCommonJs(code: string): Promise<string> {
  const { target, platform, charset, minify } = COMMON;
  // `import()` becomes a promise of `require`, which starts no second module loader.
  const supported = { 'dynamic-import': false };
  return (await transform(code, { target, platform, charset, minify, supported, format: 'cjs' })).code;
}

/** Escapes the remaining non-ASCII characters, which are in regular expressions: V8 compiles single-byte text in four fifths of the time. */
function escapeOthers(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Turns `require('name')` in a `lazy-*.ts` file, and `import('name')` anywhere, into loading a file beside the entry. The `require` calls in the cage
 * of gray-matter stay. On the host the same sources load the package itself: see docs/decisions/2026-11-22-lazy-modules.md.
 */
function lazyPackages(found: Set<string>): Plugin {
  return {
    name: 'lazy-packages',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: LAZY_FILES }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        if (!source.includes(HOST_LINE))
          throw new Error(`Cannot bundle ${path}: the line is missing, \`${HOST_LINE}\`.`);
        return { contents: source.replace(HOST_LINE, ''), loader: 'ts' };
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

/** Makes the entry load the separate parts from the files beside it. */
const apart: Plugin = {
  name: 'apart',
  setup({ onResolve }) {
    for (const [name, source] of Object.entries(APART))
      onResolve({ filter: new RegExp(`/${source}\\.ts$`) }, ({ kind }) =>
        kind === 'dynamic-import' ? { path: `./${name}.cjs`, external: true } : undefined,
      );
  },
};

/** Our reader gives gray-matter its own engines, so gray-matter's are never called. Without them, no parser that runs code gets into a sandbox. */
const withoutEngines: Plugin = {
  name: 'without-engines',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]gray-matter[\\/]lib[\\/]engines\.js$/ }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** Modules of the skills that only a host needs: a sandbox gets skills that the host has read, matched and checked. */
const HOST_ONLY: Readonly<Record<string, string>> = {
  'match/triggers':
    "export function matchSkills() { throw new Error('Cannot match a query: a sandbox has no matcher.'); }",
  'select/assert-versions': 'export function assertVersions() {}',
  'parse/yaml/plain-comments': 'export function commentDiagnostics() { return []; }',
  'parse/yaml/quick-yaml': "export { yaml as quickYaml } from './lazy-yaml.ts';",
};

const withoutHostModules: Plugin = {
  name: 'without-host-modules',
  setup({ onLoad }) {
    for (const [module, contents] of Object.entries(HOST_ONLY))
      onLoad({ filter: new RegExp(`/src/skills/${module}\\.ts$`) }, ({ path }) => ({
        contents,
        loader: 'ts',
        resolveDir: dirname(path),
      }));
  },
};

/** Codes of errors that only a host has. */
const HOST_CODES = /'(?:archive|engine|eval|image|mcp|session)\.[\w-]+': \{[^{}]*\},/g;

/** The host adds the advice to errors, since it knows the codes as well; a sandbox needs only the exit codes of its own errors. */
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
    onLoad({ filter: /[\\/]service-errors\.ts$/ }, () => ({ contents: 'export const SERVICE_ERRORS = {};' }));
  },
};

/** Only the English messages of zod are needed; the other languages are its larger part. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

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
      // `.mts` stays unchanged: the executor warms up Node's own type stripping with it.
      const format = COMMON_JS.has(entry.name) ? 'cjs' : 'esm';
      const outfile = join(to, entry.name.replace(/ts$/, format === 'cjs' ? 'cjs' : 'mjs'));
      // The project's own code stays readable, since users see it in stacks; packages only need to load fast.
      const minify = basename(from) === 'packages';
      await build({ ...COMMON, entryPoints: [source], outfile, format, minify, plugins: [englishOnly] });
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
