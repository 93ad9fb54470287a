import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARCHIVE_ENDINGS, archiveForm, withoutArchiveEnding } from '../../src/contracts/skills/archive-ending.ts';
import { sourceName } from '../../src/library/source-name.ts';

describe('the endings of archives', () => {
  it.each([
    ['a.zip', 'zip', 'a'],
    ['A.SKILL', 'zip', 'A'],
    ['a.tar.gz', 'tar', 'a'],
    ['a.Tgz', 'tar', 'a'],
    ['a.gz', undefined, 'a.gz'],
    ['zip', undefined, 'zip'],
    ['a.zip/b', undefined, 'a.zip/b'],
  ])('make %s an archive of the form %s', (name, form, rest) => {
    expect([archiveForm(name), withoutArchiveEnding(name)]).toEqual([form, rest]);
  });

  it.each([
    ['/x/units.git', 'units'],
    ['https://example.test/units.tar.gz', 'units'],
    ['/x/units', 'units'],
  ])('are not part of the name: the source %s is called %s', (source, name) => {
    expect(sourceName(source)).toBe(name);
  });

  it('are defined in one place', () => {
    const src = join(import.meta.dirname, '../../src');
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    // Texts for people quote the endings, and a scan rule has its own list of all binary files.
    const told = ['library/sources/assert-there.ts', 'cli/command-line/', 'scan/rules/find-binaries.ts'];
    const listed = files.filter((path) => {
      const text = readFileSync(join(src, path), 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
      return ARCHIVE_ENDINGS.filter((ending) => text.includes(ending.slice(1).replace('.', '\\.'))).length > 2;
    });
    expect(listed.filter((path) => !told.some((other) => path.startsWith(other)))).toEqual([
      'contracts/skills/archive-ending.ts',
    ]);
  });
});
