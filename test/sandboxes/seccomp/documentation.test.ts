import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ARGUMENT_RULES } from '../../../src/sandboxes/seccomp/argument-rules.ts';
import { SECCOMP_GROUPS } from '../../../src/sandboxes/seccomp/seccomp-groups.ts';
import { DENIED_CLASSES } from './denied-calls.ts';

const lines = readFileSync(new URL('../../../docs/seccomp.md', import.meta.url), 'utf8').split('\n');

/** The rows of the table below a heading row, as cells. */
function rowsBelow(heading: string): string[][] {
  const start = lines.indexOf(heading) + 2;
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start, start + length).map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

function asCode(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' ');
}

test('docs/seccomp.md lists the groups and rules of the filter', () => {
  expect(rowsBelow('| group | why | calls |')).toEqual(
    SECCOMP_GROUPS.map(({ purpose, why, names }) => [purpose, why, asCode(names)]),
  );
  expect(rowsBelow('| calls | what passes |')).toEqual(ARGUMENT_RULES.map(({ names, why }) => [asCode(names), why]));
});

test('docs/seccomp.md gives a reason for each class of refused calls', () => {
  const refused = rowsBelow('| class | why | calls |');
  expect(refused.map(([title, , calls]) => [title, calls])).toEqual(
    DENIED_CLASSES.map(({ title, calls }) => [title, asCode(calls.map(({ name }) => name))]),
  );
  for (const [, why] of refused) expect(why?.length).toBeGreaterThan(20);
});
