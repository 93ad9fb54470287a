import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { hasOwn } from '../captured.ts';
import { plainError } from '../describe-error.ts';

/** What the code of runs finds in the global object, beside what Node has there. */
export interface SessionGlobals {
  cwd: string;
  display(value: unknown, mediaType?: string): void;
}

/** Where the rewritten code finds `import`: by names that cannot be set anew, and that need nothing else of the global object. */
export const IMPORT = 'skillcellImport';
export const META = 'skillcellMeta';

/** Defines what a module has and a script has not, as for a file of the workspace. */
export function defineGlobals({ cwd, display }: SessionGlobals): void {
  const filename = `${cwd}/session.mjs`;
  const base = pathToFileURL(filename);
  Object.defineProperty(globalThis, 'require', { value: createRequire(base), configurable: true, writable: true });
  // What a run imports it imports as a file of the workspace would.
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, context.parentURL === import.meta.url ? { ...context, parentURL: base.href } : context),
  });
  Object.assign(globalThis, { display });
  Object.defineProperty(globalThis, IMPORT, { value: importNamed });
  Object.defineProperty(globalThis, META, { value: { url: base.href, dirname: cwd, filename, main: true } });
}

/** Imports a module, which has to have these exports, as in an `import` of a module. With each stands where it is asked for. */
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
