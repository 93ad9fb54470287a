/** Refuses imports against the arrows of the architecture: upward, in a cycle, from one runner or store to another, of the wrong package. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOOSE_FOLDERS } from './loose-folders.ts';
import { type ScannedImport, scanImports } from './scan-imports.ts';

/** Something that is imported where it may not be. */
export interface ImportFault {
  /** Path below the root. */
  file: string;
  line: number;
  message: string;
}

/** Layers of `src/`, lowest first. A layer imports itself and what stands before it. */
const LAYERS = [
  'contracts',
  'durable',
  'languages',
  'skills',
  'protocol',
  'archives',
  'outgoing',
  'runners',
  'broker',
  'decision',
  'scan',
  'authoring',
  'stores',
  'library',
  'orchestrator',
  'evals',
  'ai',
  'backend',
  'registry',
  'queue',
  'server',
  'mcp',
  'cli',
];
/** Layers that stand side by side in spite of their order. */
const APART: Record<string, string[]> = { protocol: ['skills'], broker: ['runners'], decision: ['runners'] };
/** What runs inside the sandbox is bundled from these. */
const BUNDLED = ['contracts', 'skills', 'protocol', 'runtime'];
/** Folders of a layer that has its own arrows, lowest first. What lies beside them stands on top. */
const FOLDERS: Record<string, string[]> = {
  skills: ['text', 'parse', 'load', 'select', 'match', 'catalog', 'render', 'descriptor'],
  runtime: ['languages', 'sandbox', 'files', 'run', 'agent', 'session', 'serve', 'rehearse'],
  cli: ['terminal', 'options', 'doctor', 'job', 'repl', 'commands', 'command-line'],
};
/** Layers whose folders know nothing of each other, with what one is called and the folders that all of them may use. */
const SIBLINGS: Readonly<Record<string, { one: string; shared: string[] }>> = {
  runners: { one: 'runner', shared: ['seccomp'] },
  stores: { one: 'store', shared: ['cache', 'contents'] },
};
/** Packages that the bundle keeps apart from the entry. */
const HEAVY = ['gray-matter', 're2js', 'tar-stream', 'yaml'];
/** Packages that one file keeps in a cage. */
const CAGED: Readonly<Record<string, string>> = { 'gray-matter': 'src/skills/parse/front-matter.ts' };

/** Checks all sources below `src/` and `runtime/`. */
export function checkImports(root: string): ImportFault[] {
  const files = ['src', 'runtime']
    .filter((name) => existsSync(join(root, name)))
    .flatMap((name) => sourceFiles(root, name));
  const graph = new Map(files.map((file) => [file, scanImports(readFileSync(join(root, file), 'utf8'))]));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  const packages = new Set(Object.keys(manifest.dependencies ?? {}));
  const faults: ImportFault[] = [];
  for (const [file, imports] of graph) {
    for (const found of imports) {
      const message = isRelative(found) ? arrowFault(file, target(file, found)) : packageFault(file, found, packages);
      if (message !== undefined) faults.push({ file, line: found.line, message });
    }
  }
  return [...faults, ...cycleFaults(graph)];
}

function arrowFault(from: string, to: string): string | undefined {
  const [source, goal] = [layerOf(from), layerOf(to)];
  if (goal === undefined) return `${from} imports ${to}, which the package does not hold`;
  if (source !== undefined && source === goal && Object.hasOwn(FOLDERS, source)) return folderFault(source, from, to);
  if (source === 'runtime' || goal === 'runtime') {
    return source === 'runtime' && BUNDLED.includes(goal) ? undefined : `${source} imports ${goal}: ${to}`;
  }
  if (source === goal) {
    const [a, b] = [siblingOf(from), siblingOf(to)];
    return a !== undefined && b !== undefined && a !== b
      ? `the ${SIBLINGS[source ?? '']?.one} ${a} imports its sibling ${b}: ${to}`
      : undefined;
  }
  if (source === 'top') return undefined;
  const upward = goal === 'top' || LAYERS.indexOf(goal) > LAYERS.indexOf(source ?? '');
  return upward || APART[source ?? '']?.includes(goal) ? `${source} imports ${goal}: ${to}` : undefined;
}

/** Within one layer: a folder imports itself and what stands below it, and a file beside the folders imports all. */
function folderFault(layer: string, from: string, to: string): string | undefined {
  const [source, goal] = [folderOf(layer, from), folderOf(layer, to)];
  const order = FOLDERS[layer] ?? [];
  for (const folder of [source, goal]) {
    if (folder !== undefined && !order.includes(folder) && !LOOSE_FOLDERS.includes(folder))
      throw new Error(`Cannot check imports: the folder has no place among those of ${layer}, got ${folder}.`);
  }
  if (source === undefined || source === goal) return undefined;
  const upward = goal === undefined || order.indexOf(goal) > order.indexOf(source);
  return upward ? `${layer}/${source} imports ${layer}/${goal ?? ''}: ${to}` : undefined;
}

function folderOf(layer: string, file: string): string | undefined {
  const parts = file.split('/').slice(layer === 'runtime' ? 1 : 2);
  return parts.length > 1 ? parts[0] : undefined;
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
  if (!BUNDLED.includes(layerOf(file) ?? '')) return undefined;
  if (specifier === 'zod') return 'the bundle takes zod/mini, not zod';
  return HEAVY.includes(name) && kind === 'static' ? `${name} loads at first use only; see docs/decisions` : undefined;
}

/** Each cycle once, at the file of it that comes first in the alphabet. */
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

function layerOf(file: string): string | undefined {
  const [top, second, ...rest] = file.split('/');
  if (top === 'runtime') return 'runtime';
  if (top !== 'src' || second === undefined) return undefined;
  if (rest.length === 0) return 'top';
  if (!LAYERS.includes(second))
    throw new Error(`Cannot check imports: the folder has no place among the layers, got src/${second}.`);
  return second;
}

/** The folder of a file, where the folders of its layer stand apart and this one is not for all of them. */
function siblingOf(file: string): string | undefined {
  const [, layer = '', folder, ...rest] = file.split('/');
  const siblings = SIBLINGS[layer];
  if (siblings === undefined || folder === undefined || rest.length === 0) return undefined;
  return siblings.shared.includes(folder) ? undefined : folder;
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
      .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      // Code for user programs: what it imports is there in the sandbox only.
      .filter((file) => !/^runtime\/languages\/[^/]+\/guest\//.test(file))
      .toSorted()
  );
}

if (import.meta.main) {
  const faults = checkImports(fileURLToPath(new URL('..', import.meta.url)));
  for (const { file, line, message } of faults) process.stderr.write(`${file}:${line}: ${message}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
