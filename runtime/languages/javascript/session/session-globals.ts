import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { hasOwn } from '../captured.ts';
import { plainError } from '../describe-error.ts';

/** The additions to Node's global object for the code of runs. */
export interface SessionGlobals {
  cwd: string;
  display(value: unknown, mediaType?: string): void;
}

/** The rewritten code finds `import` under these names. They cannot be reassigned and depend on no other global. */
export const IMPORT = 'skillcellImport';
export const META = 'skillcellMeta';

/** Defines the names that a module has and a script lacks, as for a file of the workspace. */
export function defineGlobals({ cwd, display }: SessionGlobals): void {
  const filename = `${cwd}/session.mjs`;
  const base = pathToFileURL(filename);
  Object.defineProperty(globalThis, 'require', { value: createRequire(base), configurable: true, writable: true });
  // A run resolves imports like a file of the workspace.
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, context.parentURL === import.meta.url ? { ...context, parentURL: base.href } : context),
  });
  Object.assign(globalThis, { display });
  Object.defineProperty(globalThis, IMPORT, { value: importNamed });
  Object.defineProperty(globalThis, META, { value: { url: base.href, dirname: cwd, filename, main: true } });
}

/** Imports a module that must have the given exports, like an `import` statement. Each export has its place in the code. */
async function importNamed(
  specifier: string,
  options?: ImportCallOptions,
  needed: readonly (readonly [name: string, place: string])[] = [],
): Promise<object> {
  const namespace = (await import(specifier, options)) as object;
  for (const [name, place] of needed) {
    if (hasOwn(namespace, name)) continue;
    const message = `The requested module '${specifier}' does not provide an export named '${name}'`;
    throw plainError('SyntaxError', message, `\n    at ${place}`);
  }
  return namespace;
}
