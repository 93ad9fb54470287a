import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LanguageDefinition } from '../contracts/jobs/language.ts';

/**
 * Reads the definitions of all languages in a folder. Each language is a folder with a `language.json`, which the build of the
 * runtime bundle has checked.
 *
 * @param folder `languages` of a runtime bundle, or `runtime/languages` of a checkout
 * @returns sorted by name
 */
export function readLanguages(folder: string): LanguageDefinition[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      const definition = JSON.parse(readFileSync(join(folder, name, 'language.json'), 'utf8')) as LanguageDefinition;
      return { ...definition, name };
    });
}
