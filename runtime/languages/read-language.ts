import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Language, LanguageDefinition } from '../../src/contracts/jobs/language.ts';

/** The definition of a language from the bundle. The build of the bundle has checked it. */
export function readLanguage(runtime: string, name: Language): LanguageDefinition {
  const file = join(runtime, 'languages', name, 'language.json');
  return { name, ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<LanguageDefinition, 'name'>) };
}
