export const WORDS: Record<string, string> = { en: 'Hello', de: 'Guten Tag', fr: 'Bonjour' };
