import { transform } from 'esbuild';
import { rolldown, type Plugin } from 'rolldown';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePackage, LAZY_FILES } from './build-runtime.ts';
import { packageFolder } from './bundled-licenses.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The modules that `package.json` exports beside the index, and the command line, by their names in `dist/`. */
const ENTRIES = [
  'skills/index',
  'ai/index',
  'client/index',
  'backend/index',
  'worker/index',
  'library/stores/index',
  'cli/main',
  'egress/worker/egress-worker',
  'registry/database/sqlite-worker',
  'registry/skills/archive-process',
  'registry/skills/archive-worker',
] as const;
/** Packages that become part of the bundle, with their dependencies: to find their many small modules takes longer than to run them. */
const BUNDLED = [
  'zod',
  'dockerode',
  '@modelcontextprotocol/server',
  'fastify',
  '@fastify/cookie',
  '@fastify/helmet',
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/swagger',
  'fastify-type-provider-zod',
  'kysely',
  'kysely-generic-sqlite',
];
/** Packages that bundled packages share with modules that load them at first use. */
const APART = ['supports-color', 'pino'];
/**
 * Parts of these packages that are never called. In dockerode: sessions of BuildKit and connections over ssh, which are most of its modules. In
 * fastify and its plugins: compilers of schemas, OpenAPI as YAML, patterns of files, and requests that tests inject.
 */
const LEFT_OUT =
  /[\\/](?:dockerode[\\/]lib[\\/](?:session|buildkit)\.js|docker-modem[\\/]lib[\\/]ssh\.js|node_modules[\\/](?:@fastify[\\/](?:ajv|fast-json-stringify)-compiler|yaml|glob|light-my-request)[\\/].*)$/;
/** Exports of the index that are no plain functions, by module. The index loads them at once, and its functions at their first call. */
const AT_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'contracts/errors/diagnostic-registry.ts': ['DIAGNOSTIC_REGISTRY'],
  'contracts/errors/error-registry.ts': ['ERROR_REGISTRY'],
  'contracts/errors/skillcell-error.ts': ['SkillcellError'],
  'contracts/errors/tool-call-codes.ts': ['TOOL_CALL_CODES'],
  'contracts/jobs/limits.ts': ['DEFAULT_LIMITS'],
  'sandboxes/runner.ts': ['RUNNER_CONTRACT'],
  'skills/subsystem.ts': ['SkillsSubsystem'],
  'tools/define/tool-errors.ts': ['ToolCallError', 'ToolError'],
};
/** Functions of the index that most programs never call, with their modules. Each is a file of its own. */
const RARE: Readonly<Record<string, string>> = {
  connectMcpTools: 'mcp/client/connect-mcp-tools.ts',
  evaluateSkill: 'evals/evaluate-skill.ts',
};
/** The modules that {@link lightIndex} writes: the index, and the functions that it loads. */
const [INDEX, FUNCTIONS] = ['\0index', '\0functions'];
/** Modules that every job of the command line loads. */
const OF_JOBS = ['cli/commands/jobs/run-exec.ts', 'cli/job/submit-job.ts'];

/** Modules that the thread of a database shares with others. */
const OF_SQLITE = [
  'library/search/load-sqlite.ts',
  'protocol/collect-garbage.ts',
  'contracts/errors/skillcell-error.ts',
].map(source);

/** Modules that become one file. */
interface Group {
  name: string;
  /** Ids of modules; with their static imports they make the group. */
  from: readonly string[];
  modules: Set<string>;
}

/**
 * Bundles the sources into few files, as each file costs a look at the disk. A file of its own remains for each module that is loaded at first use.
 *
 * @param folder destination
 * @returns folders of the packages that became part of it
 */
export async function buildModules(folder: string): Promise<Set<string>> {
  const rare = Object.entries(RARE).map(([name, path]) => [`functions/${name}`, source(path)] as const);
  const apart = new Set(rare.map(([, id]) => id));
  const command: Group = { name: 'command', from: [source('cli/main.ts')], modules: new Set() };
  const groups: readonly Group[] = [
    command,
    { name: 'skills', from: ['contracts/require-node.ts', ...Object.keys(AT_IMPORT)].map(source), modules: new Set() },
    { name: 'jobs', from: OF_JOBS.map(source), modules: new Set() },
    { name: 'library', from: [FUNCTIONS], modules: new Set() },
  ];
  const packages = new Set<string>();
  const bundle = await rolldown({
    input: {
      ...Object.fromEntries(ENTRIES.map((name) => [name, source(`${name}.ts`)])),
      index: INDEX,
      functions: FUNCTIONS,
      ...Object.fromEntries(rare),
    },
    platform: 'node',
    // Packages of bundled packages are bundled too.
    external: (id, importer) =>
      APART.includes(id) ||
      (!/^[./\0]/.test(id) && !isBundled(id) && !importer?.startsWith(join(root, 'node_modules'))),
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
      lightIndex(),
      {
        name: 'reached',
        buildEnd() {
          for (const { from, modules } of groups) {
            const reach = (id: string): void => {
              const module = modules.has(id) || apart.has(id) ? null : this.getModuleInfo(id);
              if (module === null) return;
              modules.add(id);
              module.importedIds.forEach(reach);
            };
            from.forEach(reach);
          }
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
          // Modules that the command line and the library always load.
          name: 'shared',
          priority: groups.length + 1,
          test: (id) => command.modules.has(id) && !id.startsWith(source('cli/')),
        },
        {
          // The thread of a database loads these alone.
          name: 'sqlite',
          priority: groups.length + 2,
          test: (id) => OF_SQLITE.includes(id),
        },
        ...groups.map(({ name, modules }, index) => ({
          name,
          priority: groups.length - index,
          test: (id: string) => modules.has(id),
        })),
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

/** Replaces the index by one that loads each function at its first call. All of them take twice as long to load as the rest. */
function lightIndex(): Plugin {
  return {
    name: 'light-index',
    resolveId: (id) => (id === INDEX || id === FUNCTIONS ? id : undefined),
    async load(id) {
      if (id !== INDEX && id !== FUNCTIONS) return undefined;
      const kept = Object.values(AT_IMPORT).flat();
      const exported = Object.entries(await import('../src/index.ts')).filter(([name]) => !kept.includes(name));
      const other = exported.find(([, value]) => !isPlainFunction(value));
      if (other !== undefined) throw new Error(`AT_IMPORT must name ${other[0]}, which is no plain function.`);
      const functions = exported.map(([name, value]) => ({
        name,
        isAsync: value?.constructor.name === 'AsyncFunction',
      }));
      return { code: id === INDEX ? indexCode(functions) : functionsCode(functions), moduleType: 'js' };
    },
  };
}

interface IndexFunction {
  name: string;
  /** If so, a failed load rejects its promise. */
  isAsync: boolean;
}

function indexCode(functions: readonly IndexFunction[]): string {
  const lines = [
    // First, as in the index itself.
    `import '${source('contracts/require-node.ts')}';`,
    "import { createRequire } from 'node:module';",
    ...Object.entries(AT_IMPORT).map(([path, names]) => `export { ${names.join(', ')} } from '${source(path)}';`),
    'const require = createRequire(import.meta.url);',
    ...functions.map(({ name, isAsync }) => {
      const file = name in RARE ? `functions/${name}` : 'functions';
      return `export const ${name} = ${isAsync ? 'async ' : ''}(...given) => require('./${file}.js').${name}(...given);`;
    }),
  ];
  return lines.join('\n');
}

function functionsCode(functions: readonly IndexFunction[]): string {
  const names = functions.map(({ name }) => name).filter((name) => !(name in RARE));
  return `export { ${names.join(', ')} } from '${source('index.ts')}';`;
}

function source(path: string): string {
  return join(root, 'src', path);
}

function isPlainFunction(value: unknown): boolean {
  return typeof value === 'function' && !String(value).startsWith('class');
}
