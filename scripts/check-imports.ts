/** Refuses imports that violate the architecture: upward, in a cycle, from one runner or store to another, of the wrong package. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOOSE_FOLDERS } from './loose-folders.ts';
import { type ScannedImport, scanImports } from './scan-imports.ts';

/** A forbidden import. */
export interface ImportFault {
  /** Path below the root. */
  file: string;
  line: number;
  message: string;
}

/**
 * Each folder with subfolders, and its contents, lowest first. An entry may import itself and the entries before it. Entries are folders, and files
 * that a folder beside them imports; all other files are on top and may import all. Entries in one inner list must not import each other.
 */
const FLOORS: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  src: [
    'contracts',
    'durable',
    'languages',
    'skills',
    'protocol',
    'archives',
    'outgoing',
    'egress',
    'sandboxes',
    'scan',
    'authoring',
    'library',
    'models',
    'tools',
    'jobs',
    'worker',
    'registry',
    'queue',
    'server',
    'evals',
    'ai',
    'client',
    'backend',
    'mcp',
    'cli',
  ],
  'src/contracts': ['text', 'errors', 'checks', 'skills', 'network', 'jobs'],
  'src/contracts/errors': ['library-severities', 'diagnostic-severities', 'diagnostic-texts'],
  'src/skills': ['text', 'parse', 'load', 'select', 'match', 'catalog', 'render', 'descriptor'],
  'src/skills/text': ['words'],
  'src/skills/parse': ['yaml'],
  'src/skills/load': ['files'],
  'src/protocol': ['channel', 'files', 'messages', 'connections'],
  'src/archives': ['checks', 'zip', 'tar'],
  'src/egress': ['rules', 'certificates', 'secrets', 'signatures', 'packages', 'worker', 'start-egress', 'sum-network'],
  'src/egress/secrets': ['held-secret', 'forms'],
  'src/sandboxes': [
    'host-leaves',
    'runner',
    'sandbox-limits',
    'sandbox-sizes',
    'wait-while-busy',
    'runtime-bundle',
    'probe-by-starting',
    'seccomp',
    ['local', 'docker', 'fleet'],
    'pool',
  ],
  'src/sandboxes/fleet': ['fleet-address', 'fleet-error', 'link'],
  'src/sandboxes/docker': ['image-flavor', 'engine', 'build'],
  'src/models': [
    'redact',
    'model-gateway',
    'usable-answer',
    'prompt-digest',
    'model-budget',
    'model-timeout-error',
    'ask-model',
    'gateways',
    'recordings',
    'decision',
  ],
  'src/tools': ['schema', 'define', 'declarations', 'calls', 'agent'],
  'src/tools/schema': ['schema-refused', 'tool-schema', 'fault-line', 'is-plain-object', 'document', 'json-schema'],
  'src/tools/schema/json-schema': ['node', 'run', 'marks', 'patterns', 'keywords'],
  'src/tools/declarations': ['read'],
  'src/scan': ['text', 'scan-rules', 'scan-finding', 'scanned-file', 'rules', 'scan-tree', 'read'],
  'src/scan/text': ['commands'],
  'src/scan/rules': ['patterns'],
  'src/authoring': ['yaml-text', 'dialect', 'fix'],
  'src/library': ['stores', 'source-name', 'search', 'heads', 'snapshot', 'lock', 'sources', 'trust', 'install'],
  'src/library/stores': ['cache', 'contents', ['directory', 'archive', 'git', 's3', 'web', 'mcp']],
  'src/library/lock': ['format'],
  'src/library/install': ['steps'],
  'src/jobs': [
    'sweep-runners',
    'orchestrator',
    'tracing',
    'network',
    'request',
    'supply',
    'prepare',
    'events',
    'result',
    'journal',
    'generate',
    'run',
    'skill-code',
    'session',
  ],
  'src/registry': ['database', 'users', 'kinds', 'skills'],
  'src/queue': ['seams', 'request', 'rows'],
  'src/server': ['http', 'schemas', 'routes'],
  'src/evals': ['eval-fault', 'eval-report', 'seeded-random', 'assertions', 'statistics', 'plan', 'report'],
  'src/ai': [
    'sandbox-tools-options',
    'sandbox-tools',
    'job-options',
    'sdk-tool',
    'answers',
    'run-code',
    'sandbox-session',
  ],
  'src/backend': ['pdf'],
  'src/mcp': ['client', 'server'],
  'src/mcp/client': ['mcp-servers', 'transport'],
  'src/mcp/server': [
    'server-settings',
    'skill-catalog',
    'messages',
    'resources',
    'open-sessions',
    'tools',
    'call-admission',
    'register-tool',
    'create-mcp-host',
    'stdio',
    'http',
  ],
  'src/cli': ['terminal', 'options', 'doctor', 'job', 'repl', 'commands', 'command-line'],
  'src/cli/options': ['places', 'flags', 'serving', 'skills', 'network'],
  'src/cli/commands': ['jobs', 'skills', 'library'],
  web: ['shared', ['access', 'fleet', 'skills'], 'agents', 'jobs'],
  runtime: ['languages', 'sandbox', 'network', 'files', 'run', 'packages', 'agent', 'session', 'serve', 'rehearse'],
  'runtime/run': ['run-clock', 'call-port', 'skill-script', 'program', 'job-surroundings'],
  'runtime/languages': ['javascript'],
  'runtime/languages/javascript': [
    'captured',
    'short-texts',
    'describe-error',
    'reports',
    'bridge-registry',
    'supervisor-link',
    'program-calls',
    'bridge',
    'session',
    'keeper',
  ],
};
/** Pairs of layers that must not import each other in spite of their order. */
const APART: Readonly<Record<string, readonly string[]>> = {
  protocol: ['skills'],
  models: ['sandboxes'],
  tools: ['sandboxes'],
};
/** Layers that are bundled for the sandbox. */
const BUNDLED: readonly string[] = ['contracts', 'skills', 'protocol'];
/** Packages that the bundle keeps apart from the entry. */
const HEAVY = ['gray-matter', 're2js', 'tar-stream', 'yaml'];
/** Packages that only one file may load. */
const CAGED: Readonly<Record<string, string>> = { 'gray-matter': 'src/skills/parse/front-matter.ts' };

/** Checks all sources below `src/`, `runtime/` and `web/`. */
export function checkImports(root: string): ImportFault[] {
  const files = ['src', 'runtime', 'web']
    .filter((name) => existsSync(join(root, name)))
    .flatMap((name) => sourceFiles(root, name));
  const graph = new Map(files.map((file) => [file, scanImports(readFileSync(join(root, file), 'utf8'))]));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  const packages = new Set(Object.keys(manifest.dependencies ?? {}));
  // The package ships the console as it is built.
  const packagesOfWeb = new Set([...packages, ...Object.keys(manifest.devDependencies ?? {})]);
  const faults: ImportFault[] = [];
  for (const [file, imports] of graph) {
    for (const found of imports) {
      const known = file.startsWith('web/') ? packagesOfWeb : packages;
      const message = isRelative(found)
        ? arrowFault(file, target(file, found), found.kind)
        : packageFault(file, found, known);
      if (message !== undefined) faults.push({ file, line: found.line, message });
    }
  }
  return [...faults, ...cycleFaults(graph)];
}

function arrowFault(from: string, to: string, kind: ScannedImport['kind']): string | undefined {
  const [source, goal] = [from.split('/'), to.split('/')];
  if (!['src', 'runtime', source[0]].includes(goal[0])) return `${from} imports ${to}, which the package does not hold`;
  const depth = source.findIndex((part, index) => part !== goal[index]);
  if (depth === 0) {
    const isBundled = source[0] === 'runtime' && BUNDLED.includes(goal[1] ?? '');
    const isTypeOfServer = source[0] === 'web' && goal[0] === 'src' && kind === 'type';
    return isBundled || isTypeOfServer ? undefined : `${source[0]} imports ${goal[0]}: ${to}`;
  }
  if (source.length === depth + 1 && goal.length === depth + 1) return undefined;
  const floor = source.slice(0, depth).join('/');
  const [above, below] = [placeOf(floor, source, depth), placeOf(floor, goal, depth)];
  const [name, other] = [source[depth] ?? '', goal[depth] ?? ''];
  const isApart = floor === 'src' && APART[name]?.includes(other) === true;
  return below < above && !isApart ? undefined : `${floor}/${name} imports ${floor}/${other}: ${to}`;
}

/** The height of an entry in its floor. Files that are not listed are on top. */
function placeOf(floor: string, path: readonly string[], depth: number): number {
  const entries = FLOORS[floor] ?? [];
  const name = path[depth] ?? '';
  const isFile = path.length === depth + 1;
  const place = entries.findIndex((entry) => [entry].flat().includes(isFile ? name.replace(/\.[cm]?tsx?$/, '') : name));
  if (place < 0 && !isFile && !LOOSE_FOLDERS.includes(name))
    throw new Error(`Cannot check imports: the folder "${name}" has no place in "${floor}".`);
  return place < 0 ? entries.length : place;
}

function packageFault(
  file: string,
  { specifier, kind }: ScannedImport,
  packages: ReadonlySet<string>,
): string | undefined {
  if (isBuiltin(specifier)) return undefined;
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (!packages.has(name)) return `the package ${name} is not among the dependencies`;
  const cage = CAGED[name];
  if (cage !== undefined && cage !== file) return `only ${cage} may load ${name}; see docs/decisions`;
  if (!isBundled(file)) return undefined;
  if (specifier === 'zod') return 'the bundle takes zod/mini, not zod';
  return HEAVY.includes(name) && kind === 'static' ? `${name} loads at first use only; see docs/decisions` : undefined;
}

/** Each cycle once, at its file that is first in the alphabet. */
function cycleFaults(graph: ReadonlyMap<string, ScannedImport[]>): ImportFault[] {
  const faults: ImportFault[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) {
      const cycle = path.slice(start);
      faults.push({ file: cycle.toSorted()[0] ?? file, line: 1, message: `cycle: ${[...cycle, file].join(' → ')}` });
      return;
    }
    if (done.has(file)) return;
    done.add(file);
    path.push(file);
    for (const found of graph.get(file) ?? []) if (isRelative(found)) visit(target(file, found));
    path.pop();
  };
  for (const file of [...graph.keys()].toSorted()) visit(file);
  return faults;
}

/** Whether a file is part of the sandbox bundle. */
function isBundled(file: string): boolean {
  const [top, layer = ''] = file.split('/');
  return top === 'runtime' || BUNDLED.includes(layer);
}

function isRelative({ specifier }: ScannedImport): boolean {
  return specifier.startsWith('.');
}

function target(file: string, { specifier }: ScannedImport): string {
  return relative('/', resolve('/', dirname(file), specifier));
}

function sourceFiles(root: string, folder: string): string[] {
  return (
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      // Code for user programs: its imports exist only in the sandbox.
      .filter((file) => !/^runtime\/languages\/[^/]+\/guest\//.test(file))
      .toSorted()
  );
}

if (import.meta.main) {
  const faults = checkImports(fileURLToPath(new URL('..', import.meta.url)));
  for (const { file, line, message } of faults) process.stderr.write(`${file}:${line}: ${message}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
