import { createRequire } from 'node:module';
import type * as semver from 'semver';

const require = createRequire(import.meta.url);

/** The version comparison. It loads at the first range, because few skills and few jobs use ranges. */
export function loadSemver(): typeof semver {
  return require('semver') as typeof semver;
}
