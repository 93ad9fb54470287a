import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/**
 * Writes a `package.json` if the workspace has none. Without it npm takes the next folder above with a `node_modules` for the project: the root,
 * where the module `skillcell` lies and nothing can be written. Call it as the owner of the workspace.
 */
export function makeManifest({ workspace }: SandboxLayout): void {
  try {
    writeFileSync(join(workspace, 'package.json'), '{ "private": true }\n', { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
