import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Yaml from 'yaml';

const require = createRequire(import.meta.url);

/**
 * Loads the browser build of the YAML package, which every sandbox has. The code is the same, but Node's build checks the
 * environment at every token for whether to log it, which takes a fifth of its time. See
 * docs/decisions/2026-11-22-yaml-for-many-skills.md.
 *
 * @returns the package; Node's build where there is no browser build
 */
export function quickYaml(): typeof Yaml {
  const path = join(require.resolve('yaml'), '../../browser/dist/index.js');
  return require(existsSync(path) ? path : 'yaml') as typeof Yaml;
}
