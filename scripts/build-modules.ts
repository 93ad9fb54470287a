import { transform } from 'esbuild';
import { rolldown, type Plugin } from 'rolldown';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackage, LAZY_FILES } from './build-runtime.ts';
import { packageFolder } from './bundled-licenses.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The modules that `package.json` exports, and the command line, by their names in `dist/`. */
const ENTRIES = ['index', 'skills/index', 'ai/index', 'backend/index', 'library/stores/index', 'cli/main'] as const;
/** Packages that become part of the bundle, with their dependencies: to find their many small modules takes longer than to run them. */
const BUNDLED = ['zod', 'dockerode', '@modelcontextprotocol/server'];
/** Parts of these packages that are never called: sessions of BuildKit and connections over ssh. They are most of dockerode's modules. */
const LEFT_OUT = /[\\/](?:dockerode[\\/]lib[\\/](?:session|buildkit)|docker-modem[\\/]lib[\\/]ssh)\.js$/;
/**
 * Asynchronous functions of `src/index.ts` whose modules are loaded by their first call, by module. They read nothing of the process before
 * they wait: the import delays their begin.
 */
const DEFERRED: Readonly<Record<string, string>> = {
  './evals/evaluate-skill.ts': 'evaluateSkill',
  './mcp/client/connect-mcp-tools.ts': 'connectMcpTools',
};

/**
 * Bundles the sources into few files, as each file costs a look at the disk. A file of its own remains for each module that is loaded at first use.
 *
 * @param folder destination
 * @returns folders of the packages that became part of it
 */
export async function buildModules(folder: string): Promise<Set<string>> {
  const places = new Map(ENTRIES.map((name) => [name, join(root, 'src', `${name}.ts`)]));
  const reached = { command: new Set<string>(), library: new Set<string>() };
  const packages = new Set<string>();
  const bundle = await rolldown({
    input: Object.fromEntries(places),
    platform: 'node',
    // Packages of bundled packages are bundled too, except optional ones, which a user's installation may lack.
    external: (id, importer) =>
      id === 'supports-color' ||
      (!/^[./]/.test(id) && !isBundled(id) && !importer?.startsWith(join(root, 'node_modules'))),
    // A module that the library always loads may be loaded at first use elsewhere.
    checks: { ineffectiveDynamicImport: false },
    treeshake: {
      moduleSideEffects: [
        { test: /require-node\.ts$/, sideEffects: true },
        { test: /./, sideEffects: false },
      ],
    },
    plugins: [
      leaveOut(),
      lowerSyntax(),
      loadPackages(packages),
      deferFunctions(places.get('index') ?? ''),
      {
        name: 'reached',
        buildEnd() {
          const reach = (id: string, found: Set<string>): void => {
            const module = found.has(id) ? null : this.getModuleInfo(id);
            if (module === null) return;
            found.add(id);
            for (const imported of module.importedIds) reach(imported, found);
          };
          reach(places.get('cli/main') ?? '', reached.command);
          reach(places.get('index') ?? '', reached.library);
        },
      },
    ],
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    // The folder is moved to `dist/` when the build is complete.
    sourcemapPathTransform: (source, map) =>
      relative(join(root, 'dist', relative(folder, dirname(map))), resolve(dirname(map), source)),
    // The sources have the comments; here they are a fifth of the bytes to read.
    comments: false,
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: {
      groups: [
        {
          name: 'shared',
          priority: 3,
          test: (id) => reached.command.has(id) && !id.startsWith(join(root, 'src/cli/')),
        },
        { name: 'command', priority: 2, test: (id) => reached.command.has(id) },
        { name: 'library', priority: 1, test: (id) => reached.library.has(id) },
      ],
    },
  });
  await bundle.close();
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));
  for (const name of packages) modules.push(...(await bundlePackage(name, join(folder, 'packages', `${name}.cjs`))));
  return new Set(modules.flatMap((path) => packageFolder(path) ?? []));
}

function isBundled(id: string): boolean {
  return BUNDLED.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Empties modules that are never called, or that repeat another one in the bundle. */
function leaveOut(): Plugin {
  return {
    name: 'leave-out',
    load(id) {
      if (LEFT_OUT.test(id)) return 'module.exports = {};';
      // The bundled YAML package is its browser build.
      return id.endsWith('/quick-yaml.ts') ? "export { yaml as quickYaml } from './lazy-yaml.ts';" : undefined;
    },
  };
}

/**
 * Makes synchronous loads of packages load their bundles.
 *
 * @param found takes the names of the packages
 */
function loadPackages(found: Set<string>): Plugin {
  return {
    name: 'load-packages',
    transform(code, id) {
      if (!LAZY_FILES.test(id) && !id.endsWith('/load-semver.ts')) return undefined;
      const replaced = code.replaceAll(/\brequire\(["']([\w-]+)["']\)/g, (_call, name: string) => {
        found.add(name);
        return `require('../packages/${name}.cjs')`;
      });
      return { code: replaced, map: null };
    },
  };
}

/** Replaces syntax that only Node 24 has, so that an older Node can parse the modules and report its own age. */
function lowerSyntax(): Plugin {
  return {
    name: 'lower-syntax',
    async transform(code, id) {
      if (!id.endsWith('.ts')) return undefined;
      const lowered = await transform(code, { loader: 'ts', target: 'es2023', sourcemap: true, sourcefile: id });
      return { code: lowered.code, map: lowered.map, moduleType: 'js' };
    },
  };
}

/** Replaces exports of the index by functions that load their modules at the first call. */
function deferFunctions(index: string): Plugin {
  return {
    name: 'defer-functions',
    async load(id) {
      if (id !== index) return undefined;
      let code = await readFile(id, 'utf8');
      for (const [module, name] of Object.entries(DEFERRED)) {
        const statement = new RegExp(`^export \\{([^}]*)\\} from '${module.replaceAll('.', '\\.')}';$`, 'm');
        const exported = (statement.exec(code)?.[1] ?? '').split(',').map((each) => each.trim());
        const values = exported.filter((each) => each !== '' && !each.startsWith('type '));
        if (values.join() !== name)
          throw new Error(
            `Cannot defer ${name}: it must be the only value that src/index.ts exports from "${module}".`,
          );
        code = code.replace(statement, '');
        code += `export const ${name} = async (...given) => await (await import('${module}')).${name}(...given);\n`;
      }
      return { code, moduleType: 'ts' };
    },
  };
}
