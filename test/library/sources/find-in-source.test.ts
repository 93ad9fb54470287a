import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { findInSource, type FindInSourceOptions } from '../../../src/library/sources/find-in-source.ts';
import { parseSource } from '../../../src/library/sources/parse-source.ts';
import { openTreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../../fixtures/source-of.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'find-in-source-')));
  mkdirSync(join(cwd, 'repo'));
  writeTree(join(cwd, 'repo'), {
    'skills/a/SKILL.md': skillText('a'),
    'skills/a/deep/b/SKILL.md': skillText('b'),
    'skills/a/linked': { symlink: '/etc/passwd' },
    'far/x/SKILL.md': skillText('x'),
    '.claude-plugin/marketplace.json': JSON.stringify({
      plugins: [{ name: 'press', source: './', strict: false, skills: ['./skills/a'] }],
    }),
  });
});
afterEach(() => removeTree(cwd));

/** Skills with their plugins, and the codes of all diagnostics. */
async function come(
  text: string,
  options: Partial<FindInSourceOptions> = {},
): Promise<{ skills: string[]; codes: string[] }> {
  const { skills, diagnostics } = await findInSource(parseSource(text, cwd), {
    cache: openTreeCache(join(cwd, 'cache')),
    lockFolder: cwd,
    ...options,
  });
  return {
    skills: skills.map(({ skill, origin }) => `${skill.id} ${origin.source}:${origin.folder} ${origin.plugin ?? ''}`),
    codes: diagnostics.map(({ code, path }) => `${code} ${path ?? ''}`),
  };
}

describe('findInSource()', () => {
  it('takes the skills that marketplaces list, with their plugin, and reports each left-out name once', async () => {
    expect(await come('./repo')).toEqual({
      skills: ['custom.x ./repo:far/x ', 'custom.a ./repo:skills/a press'],
      codes: ['skill.nested skills/a/deep/b/SKILL.md', 'skill.link skills/a/linked'],
    });
  });

  it('does not report a taken skill as left out', async () => {
    expect(await come('./repo:skills', { nested: true })).toEqual({
      skills: ['custom.a ./repo:skills/a press', 'custom.b ./repo:skills/a/deep/b '],
      codes: ['skill.link skills/a/linked'],
    });
  });
});
