import { createRequire } from 'node:module';
import type * as re2js from 're2js';

// The runtime bundle replaces the next line: see docs/decisions/2026-11-22-lazy-modules.md.
const require = createRequire(import.meta.url);

/** Regular expressions without backtracking. They load at the first call, because they take longer than the rest of the entry. */
export function loadRe2(): typeof re2js {
  return require('re2js') as typeof re2js;
}
