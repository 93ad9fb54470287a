import type { Language } from './job.ts';

const ENDINGS: Record<Language, string> = { javascript: '.mjs', typescript: '.mts', python: '.py', bash: '.sh' };

/** The name of the program in its working folder: the caller's own, with an ending that fixes the language. */
export function programFileName(language: Language, given?: string): string {
  const base = (given ?? 'main').replace(/\.[^.]*$/, '') || 'main';
  return `${base}${ENDINGS[language]}`;
}
