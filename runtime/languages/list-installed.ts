import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { askInterpreter, LISTS_FOLDER } from './installed-packages.ts';
import { readLanguage } from './read-language.ts';

/*
 * Writes the packages that each language of the bundle beside this file finds on this machine. The image's build runs it.
 *
 *     node list-installed.cjs
 */
void listInstalled(dirname(__filename)).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});

async function listInstalled(runtime: string): Promise<void> {
  mkdirSync(join(runtime, LISTS_FOLDER), { recursive: true });
  for (const name of readdirSync(join(runtime, 'languages'))) {
    const definition = readLanguage(runtime, name);
    if (definition.installed === undefined) continue;
    writeFileSync(join(runtime, LISTS_FOLDER, name), await askInterpreter(runtime, definition));
  }
}
