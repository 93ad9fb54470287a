import { describe, expect, it } from 'vitest';
import type { FolderListing } from '../../../src/skills/load/files/list-folder.ts';
import { listSkillFiles, SKILL_ENTRIES } from '../../../src/skills/load/files/list-skill-files.ts';
import { withFolder } from '../../conformance/library.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `f${index}`);

/** Listed paths of a folder with this content, with code and place of each finding. */
function list(holds: Partial<FolderListing>): { paths: number | undefined; found: string[] } {
  return withFolder((dir) => {
    const { paths, diagnostics } = listSkillFiles(
      dir,
      { files: [], folders: [], links: [], others: [], ...holds },
      'x/',
    );
    return { paths: paths?.length, found: diagnostics.map(({ code, path }) => `${code} ${path}`) };
  });
}

describe('listSkillFiles()', () => {
  it('accepts the most entries, and names the skill that has one more', () => {
    expect(list({ files: names(SKILL_ENTRIES) })).toEqual({ paths: SKILL_ENTRIES, found: [] });
    const more = { paths: undefined, found: ['skill.too-large x/'] };
    expect(list({ files: names(SKILL_ENTRIES + 1) })).toEqual(more);
    expect(list({ files: names(SKILL_ENTRIES), folders: ['d'] })).toEqual(more);
  });

  it('names the unreadable folder, and keeps earlier findings', () => {
    expect(list({ links: ['l'], folders: ['gone'] })).toEqual({
      paths: undefined,
      found: ['skill.link x/l', 'skill.unreadable x/gone/'],
    });
  });

  it('names fifos, sockets and devices, one diagnostic a folder', () => {
    expect(list({ files: ['f'], others: ['p', 'q'] })).toEqual({ paths: 1, found: ['skill.path x/p'] });
  });

  it.each([
    [10, 'f9.'],
    [11, 'f9 and 1 more.'],
  ])('names at most ten of %i links', (count, end) => {
    const { diagnostics } = listSkillFiles(
      '/nowhere',
      { files: [], folders: [], links: names(count), others: [] },
      'x/',
    );
    expect(diagnostics.map(({ message }) => message)).toEqual([
      `Links are never followed: ${names(9).join(', ')}, ${end}`,
    ]);
  });
});
