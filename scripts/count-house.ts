/** Counts the house: `node scripts/count-house.ts [ROOT]` prints files, lines, importers and words as JSON. See docs/decisions/2026-11-27-one-house.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnglish } from './check-english.ts';
import { scanImports } from './scan-imports.ts';

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = listed.filter((path) => /^(?:src|runtime)\/.*\.[cm]?ts$/.test(path));
const documents = listed.filter((path) => /^(?:README|CONTRIBUTING|CHANGELOG)\.md$|^docs\/.*\.md$/.test(path));

/** Names that one file imports from another: `import { a, type b as c } from './x.ts'` has two. */
function importedNames(text: string): { from: string; name: string }[] {
  return [...text.matchAll(/^(?:import|export)(?: type)? \{([^}]*)\} from '(\.[^']+)'/gm)].flatMap(
    ([, names = '', from = '']) =>
      names
        .split(',')
        .map(
          (name) =>
            name
              .trim()
              .replace(/^type /, '')
              .split(' as ')[0] ?? '',
        )
        .filter((name) => name !== '')
        .map((name) => ({ from, name })),
  );
}

const importers = new Map<string, Set<string>>();
const users = new Map<string, Set<string>>();
const add = (map: Map<string, Set<string>>, key: string, user: string): void => {
  map.set(key, (map.get(key) ?? new Set()).add(user));
};
for (const path of sources) {
  const text = read(path);
  const target = (specifier: string): string => normalize(join(dirname(path), specifier));
  for (const { specifier } of scanImports(text)) if (specifier.startsWith('.')) add(importers, target(specifier), path);
  for (const { from, name } of importedNames(text)) add(users, `${target(from)} ${name}`, path);
}
const lines = (path: string): number => read(path).split('\n').length - 1;
const inFolder = (folder: string): string[] => sources.filter((path) => path.startsWith(`${folder}/`));
const sizes = (folder: string): object => ({
  files: inFolder(folder).length,
  lines: inFolder(folder).reduce((sum, path) => sum + lines(path), 0),
});
const filesOf = new Map<string, number>();
for (const path of sources) filesOf.set(dirname(path), (filesOf.get(dirname(path)) ?? 0) + 1);
const single = sources.filter((path) => importers.get(path)?.size === 1);
const beside = single.filter((path) => dirname([...(importers.get(path) ?? [])][0] ?? '') === dirname(path));
const english = (paths: readonly string[]): object =>
  paths
    .map((path) => readEnglish(path, read(path)).counts)
    .reduce((sum, one) => ({
      commentLines: sum.commentLines + one.commentLines,
      commentWhats: sum.commentWhats + one.commentWhats,
      proseWords: sum.proseWords + one.proseWords,
      proseWhats: sum.proseWhats + one.proseWhats,
    }));
const words = (path: string): number =>
  read(path)
    .split(/\s+/)
    .filter((word) => word !== '').length;

console.log(
  JSON.stringify(
    {
      src: sizes('src'),
      runtime: sizes('runtime'),
      foldersOver15Files: [...filesOf.values()].filter((count) => count > 15).length,
      filesWithOneImporter: single.length,
      ofTheseBesideIt: beside.length,
      ofTheseUnder60Lines: beside.filter((path) => lines(path) < 60).length,
      exportsUsedByOneFile: [...users.values()].filter((files) => files.size === 1).length,
      sources: english(sources),
      documents: english(documents),
      readmeWords: words('README.md'),
      changelogWords: words('CHANGELOG.md'),
    },
    null,
    2,
  ),
);
