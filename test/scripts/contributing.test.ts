import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');
const { scripts, files } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  scripts: Record<string, string>;
  files: string[];
};

/** The first cells of the tables below a heading. */
function rows(heading: string): string[] {
  const section = text.slice(text.indexOf(`## ${heading}`)).split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
}

const foldersOf = (path: string): string[] =>
  readdirSync(`${root}${path}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);

describe('CONTRIBUTING.md', () => {
  it('has exactly one row for each command', () => {
    const commands = rows('Commands').filter((name) => name.startsWith('npm '));
    const names = commands.map((command) => /^npm (?:run )?(?:-s )?(\S+)/.exec(command)?.[1] ?? command);
    // npm itself runs `prepack`.
    const all = Object.keys(scripts).filter((name) => name !== 'prepack');
    expect(names.toSorted()).toEqual(all.toSorted());
  });

  it('lists each folder on its map', () => {
    const map = rows('Map of the house');
    const ofSources = foldersOf('src').map((name) => `src/${name}/`);
    expect(map.filter((name) => name.startsWith('src/')).toSorted()).toEqual(ofSources.toSorted());
    const inRepository = ['src', 'node_modules', 'dist', 'coverage', 'skillcell-out'];
    const others = foldersOf('.').filter((name) => !inRepository.includes(name));
    expect(map.filter((name) => !name.startsWith('src/')).toSorted()).toEqual(
      others.map((name) => `${name}/`).toSorted(),
    );
    for (const layer of ['src/skills', 'src/cli', 'runtime']) {
      const row = text.split('\n').find((line) => line.startsWith(`| \`${layer}/\``)) ?? '';
      for (const name of foldersOf(layer)) expect(row, layer).toContain(`\`${name}/\``);
    }
  });

  it('lists the contents of the package', () => {
    const said = /The package holds (.+?), and what npm always adds/s.exec(text)?.[1] ?? '';
    expect([...said.matchAll(/`([^`]+?)\/?`/g)].map(([, name = '']) => name).toSorted()).toEqual(files.toSorted());
  });
});
