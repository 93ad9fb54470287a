import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkLanguage } from '../../scripts/check-language.ts';
import type { LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import { languages } from '../../src/languages/languages.ts';
import { readLanguages } from '../../src/languages/read-languages.ts';

const [ruby] = readLanguages(fileURLToPath(new URL('../fixtures/languages', import.meta.url))) as [LanguageDefinition];

describe('checkLanguage()', () => {
  it('accepts all existing definitions', () => {
    expect(languages().map(({ name }) => name)).toEqual(['bash', 'javascript', 'python', 'typescript']);
    for (const language of [...languages(), ruby]) expect(() => checkLanguage(language)).not.toThrow();
  });

  it('finds no ending and no shebang in two languages', () => {
    for (const key of ['endings', 'shebangs'] as const) {
      const all = languages().flatMap((language) => (key === 'endings' ? Object.keys(language[key]) : language[key]));
      expect(all).toEqual([...new Set(all)]);
      expect(all.length).toBeGreaterThan(5);
    }
  });

  it.each<[string, object]>([
    ['guide', { guide: undefined }],
    ['command', { command: ['two words'] }],
    ['interpreters', { interpreters: ['ruby'] }],
    ['endings', { endings: { rb: '.rb' } }],
    ['endings', { endings: {} }],
    ['reads', { reads: 'lines' }],
    ['imagePackages', { imagePackages: { slim: ['ruby; rm'] } }],
    ['colour', { colour: 'red' }],
  ])('refuses a definition for its %s, and names it', (field, change) => {
    const changed: LanguageDefinition = { ...ruby, ...change };
    expect(() => checkLanguage(changed)).toThrow(/^Cannot take runtime\/languages\/ruby\/language\.json: /);
    expect(() => checkLanguage(changed)).toThrow(field);
  });

  it('refuses a folder that is not a plain name', () => {
    expect(() => checkLanguage({ ...ruby, name: 'my ruby' })).toThrow('got my ruby');
  });
});
