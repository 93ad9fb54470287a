import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** Names of the exports by entry. A name may be added; one that goes is a breaking change, and stands in CHANGELOG.md. */
const EXPORTS = JSON.parse(read('test/fixtures/public-exports.json')) as Record<string, string[]>;

describe.each(Object.entries(EXPORTS))('the entry %s', (entry, names) => {
  // `npm run check -- generated` compares the page with the types.
  const [, section = ''] = read('docs/api.md').split(`\n## \`${entry}\`\n`);
  const [own = ''] = section.split('\n## ');

  it('exports every name that users may have imported', () => {
    expect(names.filter((name) => !own.includes(`\`${name}\``) && !own.includes(`\`${name}.`))).toEqual([]);
  });
});
