import * as z from 'zod/mini';
import type { Language } from '../../contracts/jobs/language.ts';
import { findLanguage, languageNames } from '../../languages/languages.ts';

/** Accepts the names of the languages in this build of skillcell. */
export const languageSchema: z.ZodMiniType<Language> = z.string().check(
  z.refine((name) => findLanguage(name) !== undefined, {
    error: () => `must be one of ${languageNames().join(', ')}`,
  }),
);
