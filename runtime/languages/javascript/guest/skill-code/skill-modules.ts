import { realpathSync } from 'node:fs';
import { createRequire, isBuiltin, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Modules that skill code can import by name without a package of its own: files beside this one. */
const GIVEN: ReadonlyMap<string, string> = new Map([
  ['zod', './packages/zod.mjs'],
  ['zod/v4', './packages/zod.mjs'],
  ['@agent/tools', './agent-tools.mjs'],
  ['skillcell/skills', './skill-provider.mjs'],
]);
/** The endings of the file that an extensionless import of an own module may mean. */
const ENDINGS = ['.ts', '.mts', '.js', '.mjs', '.cjs', '/index.ts', '/index.mts', '/index.js', '/index.mjs'];

const folders = new Set<string>();

/** Lets the modules of a skill's folder resolve their imports. Returns the folder's address. */
export function openFolder(folder: string): string {
  if (folders.size === 0) registerHooks({ resolve });
  const address = `${pathToFileURL(realpathSync(folder)).href}/`;
  folders.add(address);
  return address;
}

/** Whether the modules of a folder can resolve this name. */
export function isThere(name: string, folder: string): boolean {
  if (GIVEN.has(name) || isBuiltin(name)) return true;
  try {
    createRequire(`${folder}SKILL.md`).resolve(name);
    return true;
  } catch (error) {
    // The package exists, but only for `import`; `require` would not load it.
    return (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>;
type Next = Parameters<Resolve>[2];

const resolve: Resolve = (specifier, context, nextResolve) => {
  if (!isOfSkill(context.parentURL)) return typed(nextResolve(specifier, context));
  const given = GIVEN.get(specifier);
  if (given !== undefined) return { url: new URL(given, import.meta.url).href, format: 'module', shortCircuit: true };
  if (!/^\.{0,2}\//.test(specifier)) return nextResolve(specifier, context);
  return typed(resolvePath(specifier, (name) => nextResolve(name, context)));
};

/** A path as given; else with an ending added, or with the ending of the TypeScript source of the compiled file. */
function resolvePath(specifier: string, next: (specifier: string) => ReturnType<Next>): ReturnType<Next> {
  try {
    return next(specifier);
  } catch (error) {
    const source = /\.[cm]?js$/.test(specifier) ? [specifier.replace(/js$/, 'ts')] : [];
    for (const name of [...ENDINGS.map((ending) => specifier + ending), ...source]) {
      try {
        return next(name);
      } catch {
        // A later ending may exist; if none does, the first error is thrown.
      }
    }
    throw error;
  }
}

/** A skill has no package.json to give the module type of its TypeScript. */
function typed(found: ReturnType<Next>): ReturnType<Next> {
  return isOfSkill(found.url) && /\.m?ts$/.test(found.url) ? { ...found, format: 'module-typescript' } : found;
}

function isOfSkill(address: string | undefined): boolean {
  if (address === undefined) return false;
  for (const folder of folders) if (address.startsWith(folder)) return true;
  return false;
}
