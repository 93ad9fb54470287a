import { createRequire } from 'node:module';
import type * as semver from 'semver';

const require = createRequire(import.meta.url);

/** What compares versions; loaded at the first range, since few skills ask for one. */
export function loadSemver(): typeof semver {
  return require('semver') as typeof semver;
}
