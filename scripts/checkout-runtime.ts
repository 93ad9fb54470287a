import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkoutBuild } from './checkout-build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The sources of the bundle. */
const SOURCES = [
  'runtime',
  'src/contracts',
  'src/protocol',
  'src/skills',
  'scripts/check-language.ts',
  'scripts/build-runtime.ts',
  'scripts/loose-folders.ts',
  'package-lock.json',
];

/**
 * The runtime bundle of this checkout.
 *
 * @param cache folder of the bundles
 * @returns the folder of the current bundle
 */
export async function checkoutRuntime(cache: string = join(root, '.toolchain', 'runtime')): Promise<string> {
  return await checkoutBuild({
    ...{ cache, sources: SOURCES, mark: 'manifest.json' },
    async build(folder) {
      const { buildRuntime } = await import('./build-runtime.ts');
      const { digest } = await buildRuntime(folder);
      return digest.replace('sha256:', '').slice(0, 24);
    },
  });
}
