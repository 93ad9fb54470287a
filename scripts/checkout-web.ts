import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkoutBuild } from './checkout-build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The sources of the console. Of `src/` it takes types only. */
const SOURCES = ['web', 'scripts/build-web.ts', 'package-lock.json'];

/**
 * The console of this checkout.
 *
 * @param say takes a line for people if the console has to be built
 * @returns the folder of the current build
 */
export async function checkoutWeb(say: (line: string) => Promise<void>): Promise<string> {
  return await checkoutBuild({
    ...{ cache: join(root, '.toolchain', 'web'), sources: SOURCES, mark: 'index.html' },
    async build(folder) {
      await say('building the console');
      // A checkout that only runs has no packages of the console yet.
      if (!existsSync(join(root, 'node_modules/vite'))) await setUpWhole();
      const { buildWeb } = await import('./build-web.ts');
      await buildWeb(folder);
      return await digestOf(folder);
    },
  });
}

async function setUpWhole(): Promise<void> {
  // Plain JavaScript without declarations.
  const { setUp } = (await import(new URL('setup/set-up.js', import.meta.url).href)) as {
    setUp: (checkout: string, whole: boolean) => Promise<string>;
  };
  await setUp(root, true);
}

async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of (await readdir(folder, { recursive: true, withFileTypes: true })).toSorted(byPath)) {
    if (entry.isFile()) hash.update(`${entry.name}\n`).update(await readFile(join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex').slice(0, 24);
}

function byPath(one: { parentPath: string; name: string }, other: typeof one): number {
  return join(one.parentPath, one.name) < join(other.parentPath, other.name) ? -1 : 1;
}
