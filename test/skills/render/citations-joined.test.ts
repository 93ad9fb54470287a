import { describe, expect, it } from 'vitest';
import { rewriteCitations } from '../../../src/skills/render/citations.ts';

const pool = [{ sid: 1, url: 'https://example.org/foreign', title: 'Foreign', text: '' }];

function rewrite(text: string, sources: { sid: number; url: string }[] = []): string | undefined {
  return rewriteCitations({ pool, skills: [{ id: 'public.a', sources, text }] }).texts['public.a'];
}

describe('rewriteCitations() on tokens inside tokens', () => {
  it('leaves no citation of a foreign row that a dropped token joined', () => {
    expect(rewrite('see [[S:[[S:9]]1]].')).toBe('see.');
    expect(rewrite('see [[[[S:9]]S:1]].')).toBe('see.');
    expect(rewrite('[[S:[[S:[[S:9]]9]]1]]')).toBe('');
  });

  it('maps a joined token when the skill has its source', () => {
    expect(rewrite('see [[S:[[S:9]]1]].', [{ sid: 1, url: 'https://example.org/own' }])).toBe('see [[S:2]].');
  });

  it('breaks up extremely nested brackets in little time', () => {
    const depth = 20_000;
    const text = `${'[[S:'.repeat(depth)}1${']]'.repeat(depth)}`;
    expect(rewrite(text)).not.toMatch(/\[\[S:1\]\]/);
  });
});
