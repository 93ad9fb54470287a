import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Language, LanguageDefinition } from '../contracts/jobs/language.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { readLanguages } from './read-languages.ts';

const CHECKOUT = '../../runtime/languages';
/** In the package, and beside an application that is bundled into one file with `dist/runtime` next to it. */
const BUILT = ['../runtime/languages', './runtime/languages'];

let read: LanguageDefinition[] | undefined;

/** The languages of this copy of skillcell, by name. */
export function languages(): readonly LanguageDefinition[] {
  return (read ??= readLanguages(findFolder()));
}

/** The names of all languages. */
export function languageNames(): string[] {
  return languages().map(({ name }) => name);
}

/** The definition of a language, or `undefined` for an unknown name. */
export function findLanguage(name: Language): LanguageDefinition | undefined {
  return languages().find((definition) => definition.name === name);
}

function findFolder(): string {
  const places = import.meta.url.endsWith('.ts') ? [CHECKOUT] : BUILT;
  const folders = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = folders.find((folder) => existsSync(folder));
  if (found !== undefined) return found;
  const message = `Cannot find the languages: the runtime bundle is missing, there is no ${folders.join(' and no ')}.`;
  throw new SkillcellError('runtime.bundle-missing', message);
}
