import { execFileSync } from 'node:child_process';
import Module from 'node:module';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeTools, type StubLanguage, type ToolPlaces } from '../../../src/tools/declarations/tool-places.ts';
import { describeWith, MISSING_PYTHON } from '../../fixtures/describe-with.ts';

const GUESTS = fileURLToPath(new URL('../../../runtime/languages', import.meta.url));

/** Names that JavaScript and Python look up in objects themselves, and keywords. */
const NAMES = [
  ...['then', 'catch', 'call', 'apply', 'bind', 'name', 'length', 'arguments', 'caller', 'prototype', 'constructor'],
  ...['__proto__', 'toString', 'valueOf', 'toJSON', 'default', 'delete', 'new', 'in', 'hasOwnProperty', 'inspect'],
  ...[
    'aio',
    '_id',
    '__class__',
    '__call__',
    '__wrapped__',
    'import',
    'from',
    'None',
    'match',
    'print',
    'self',
    'tools',
  ],
];
const segment = fc.oneof(fc.constantFrom(...NAMES), fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/));
const ids = fc.sample(
  fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('.')),
  { numRuns: 2_000, seed: 7 },
);

/** The ids that programs can reach by dots, each declared alone. */
function reachable(language: StubLanguage): string[] {
  return ids.filter((id) => placeTools([{ id }], language).byCall.length === 0);
}

test('a JavaScript program with the declared names calls the right tools', async () => {
  const called: unknown[] = [];
  const bridge = { ToolCallError: Error, call: (_target: string, id: string) => called.push(id) };
  Object.assign(Module, { [Symbol.for('skillcell.bridge')]: { bridge } });
  interface Path {
    (): void;
    [name: string]: Path;
  }
  const { tools } = (await import(`${GUESTS}/javascript/guest/index.js`)) as { tools: Path };
  const paths = [...NAMES.map((name) => `crm.${name}.find`).filter(isReachable), ...reachable('typescript')];
  for (const id of paths) id.split('.').reduce<Path | undefined>((space, name) => space?.[name], tools)?.();
  expect(called).toEqual(paths);
  expect(paths.length).toBeGreaterThan(500);
});

describeWith('Python', MISSING_PYTHON, () => {
  test('a program with the declared names calls the right tools', () => {
    const paths = reachable('python');
    // Checked in a program, where a keyword is not a name.
    const lines = paths.map((id) => `tools.${id}()`);
    const program = [
      'import sys, types',
      'called = []',
      'calls = types.SimpleNamespace(call=lambda id, given: called.append(id))',
      "sys.modules['_skillcell_bridge'] = types.SimpleNamespace(calls=calls, ToolCallError=Exception)",
      `sys.path.insert(0, ${JSON.stringify(`${GUESTS}/python/guest`)})`,
      'from skillcell import tools',
      ...lines,
      "print('\\n'.join(called))",
    ];
    const printed = execFileSync('/usr/bin/python3', ['-B', '-'], { input: program.join('\n'), encoding: 'utf8' });
    expect(printed.trim().split('\n')).toEqual(paths);
    expect(paths.length).toBeGreaterThan(500);
  });
});

test('each tool has one place: below its names, or among the tools that are called by id', () => {
  for (const language of ['typescript', 'python'] as const) {
    const { places, byCall } = placeTools(
      ids.map((id) => ({ id })),
      language,
    );
    const found = [...byCall.map(({ id }) => id), ...idsOf(places, [])];
    expect(found.toSorted()).toEqual([...new Set(ids)].toSorted());
    const spaces = new Set(ids.flatMap((id) => id.split('.').map((_, at, all) => all.slice(0, at).join('.'))));
    for (const id of idsOf(places, [])) expect(spaces.has(id)).toBe(false);
  }
});

function isReachable(id: string): boolean {
  return placeTools([{ id }], 'typescript').byCall.length === 0;
}

function idsOf(places: ToolPlaces<{ id: string }>, names: string[]): string[] {
  const own = Array.from(places.tools, ([name, { id }]) => {
    expect(id).toBe([...names, name].join('.'));
    return id;
  });
  return [...own, ...Array.from(places.spaces, ([name, inner]) => idsOf(inner, [...names, name])).flat()];
}
