import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { filesByFleet, filesOf, ONCE_MORE_BY_FLEET, ONLY_IN_ALL } from '../../scripts/suite-parts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [quick, rest, all] = (['quick', 'rest', 'all'] as const).map((part) => filesOf(part, root)) as [
  string[],
  string[],
  string[],
];

it('the two parts of the tests cover each file, and share a file only if it divides its tests', () => {
  expect([...new Set([...quick, ...rest])].toSorted()).toEqual(all.toSorted());
  for (const file of quick.filter((name) => rest.includes(name)))
    expect(readFileSync(`${root}${file}`, 'utf8'), file).toMatch(
      /\b(?:share|shareOf|IS_SAMPLE|NETWORK_LEVELS|EVERY_LEVEL|SHARED_LEVELS)\b/,
    );
});

it('a file that npm test leaves out by name exists', () => {
  for (const pattern of ONLY_IN_ALL.filter((name) => !name.endsWith('/**')))
    expect(globSync(pattern, { cwd: root }), pattern).not.toEqual([]);
});

it('a file that npm test leaves out does not divide its tests, since half of them would run in no part', () => {
  const leftOut = all.filter((name) => !quick.includes(name));
  for (const file of leftOut)
    expect(readFileSync(`${root}${file}`, 'utf8'), file).not.toMatch(
      /^import .*(?:\b(?:EVERY_LEVEL|SHARED_LEVELS)\b.*\/fixtures\/.*levels?\.ts'|\bshare(?:Of)?\b.*\/share\.ts')/m,
    );
});

it('a file that runs once more by a fleet exists, and not in npm test', () => {
  for (const pattern of ONCE_MORE_BY_FLEET) expect(globSync(pattern, { cwd: root }), pattern).not.toEqual([]);
  expect(filesByFleet('quick', root)).toEqual([]);
});

it('a new file belongs to npm test', () => {
  expect(quick).toContain('test/scripts/suite-parts.test.ts');
  expect(rest).not.toContain('test/scripts/suite-parts.test.ts');
});
