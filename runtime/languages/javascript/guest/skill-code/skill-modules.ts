import { realpathSync } from 'node:fs';
import { createRequire, isBuiltin, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Modules that the code of skills finds without having them, by name: files beside this one. */
const GIVEN: ReadonlyMap<string, string> = new Map([
  ['zod', './packages/zod.mjs'],
  ['zod/v4', './packages/zod.mjs'],
  ['@agent/tools', './agent-tools.mjs'],
  ['skillcell/skills', './skill-provider.mjs'],
]);
/** How people write the name of a module of their own, and what that is on the disk. */
const ENDINGS = ['.ts', '.mts', '.js', '.mjs', '.cjs', '/index.ts', '/index.mts', '/index.js', '/index.mjs'];

const folders = new Set<string>();

/** Lets the modules of a skill's folder find what they import. Gives the folder's address. */
export function openFolder(folder: string): string {
  if (folders.size === 0) registerHooks({ resolve });
  const address = `${pathToFileURL(realpathSync(folder)).href}/`;
  folders.add(address);
  return address;
}

/** Whether the modules of a folder find one of this name. */
export function isThere(name: string, folder: string): boolean {
  if (GIVEN.has(name) || isBuiltin(name)) return true;
  try {
    createRequire(`${folder}SKILL.md`).resolve(name);
    return true;
  } catch (error) {
    // A package for `import` alone is there, though `require` would not load it.
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

/** A path as it stands; else with an ending, or with the ending of the source that it was compiled from. */
function resolvePath(specifier: string, next: (specifier: string) => ReturnType<Next>): ReturnType<Next> {
  try {
    return next(specifier);
  } catch (error) {
    const source = /\.[cm]?js$/.test(specifier) ? [specifier.replace(/js$/, 'ts')] : [];
    for (const name of [...ENDINGS.map((ending) => specifier + ending), ...source]) {
      try {
        return next(name);
      } catch {
        // The next ending may be the one; the first error is the one to tell.
      }
    }
    throw error;
  }
}

/** A skill has no package that would say what its TypeScript is. */
function typed(found: ReturnType<Next>): ReturnType<Next> {
  return isOfSkill(found.url) && /\.m?ts$/.test(found.url) ? { ...found, format: 'module-typescript' } : found;
}

function isOfSkill(address: string | undefined): boolean {
  if (address === undefined) return false;
  for (const folder of folders) if (address.startsWith(folder)) return true;
  return false;
}
