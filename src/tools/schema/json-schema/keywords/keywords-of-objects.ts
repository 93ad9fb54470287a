import { isObject, isTextList } from '../../document/kinds-of-values.ts';
import { countBounds } from './count-bounds.ts';
import { optional, optionalBelow, optionalNamed, type Keyword, type SchemaReading } from './keyword.ts';
import { addMark } from '../marks.ts';
import { evaluateAt, type SchemaNode } from '../node.ts';
import { isFound, type Pattern } from '../patterns/pattern.ts';
import { fault, isSettled, namesOf, spend, type Run } from '../run.ts';

/** Keywords of both drafts that apply only to objects. */
export const KEYWORDS_OF_OBJECTS: readonly Keyword[] = [
  {
    names: ['required'],
    read(reading) {
      const names = optional(reading, 'required', isTextList, 'a list of names');
      if (names === undefined) return undefined;
      return (value, run) => !isObject(value) || hasAll(value, names, run);
    },
  },
  ...countBounds('Properties', {
    count: (value, run) => (isObject(value) ? namesOf(run, value).length : undefined),
    unit: () => 'properties',
  }),
  {
    names: ['properties', 'patternProperties', 'additionalProperties'],
    read(reading) {
      const named = new Map(nodesBelow(reading, 'properties'));
      const patterns = nodesBelow(reading, 'patternProperties').map(([source, node]) => ({
        pattern: reading.pattern(source),
        node,
      }));
      const rest = optionalBelow(reading, 'additionalProperties');
      return (value, run, marks) =>
        !isObject(value) ||
        everyProperty(value, run, (name) => {
          const found = nodesOf(name, named, patterns, run);
          if (found.length === 0 && rest !== undefined) found.push(rest);
          if (found.length > 0) addMark(marks, name, run);
          return found;
        });
    },
  },
  {
    names: ['propertyNames'],
    read(reading) {
      const node = optionalBelow(reading, 'propertyNames');
      return (
        node && ((value, run) => !isObject(value) || everyName(value, run, (name) => evaluateAt(node, name, name, run)))
      );
    },
  },
];

/** Applies to the properties that no other keyword has evaluated. */
export const UNEVALUATED_PROPERTIES: Keyword = {
  names: ['unevaluatedProperties'],
  read(reading) {
    const node = optionalBelow(reading, 'unevaluatedProperties');
    return (
      node &&
      ((value, run, marks) =>
        !isObject(value) ||
        everyProperty(value, run, (name) => {
          if (marks?.has(name)) return [];
          addMark(marks, name, run);
          return [node];
        }))
    );
  },
};

function nodesBelow(reading: SchemaReading, name: string): [string, SchemaNode][] {
  return optionalNamed(reading, name).map(([key, part]) => [key, reading.below(part)]);
}

function everyProperty(value: Record<string, unknown>, run: Run, nodesOfName: (name: string) => SchemaNode[]): boolean {
  return everyName(value, run, (name) => {
    let fits = true;
    for (const node of nodesOfName(name)) fits = evaluateAt(node, name, value[name], run) && fits;
    return fits;
  });
}

function everyName(value: object, run: Run, isFitting: (name: string) => boolean): boolean {
  const names = namesOf(run, value);
  spend(run, names.length * 2);
  let fits = true;
  for (const name of names) {
    fits = isFitting(name) && fits;
    if (!fits && isSettled(run)) break;
  }
  return fits;
}

function nodesOf(
  name: string,
  named: ReadonlyMap<string, SchemaNode>,
  patterns: readonly { pattern: Pattern; node: SchemaNode }[],
  run: Run,
): SchemaNode[] {
  const node = named.get(name);
  const found = node === undefined ? [] : [node];
  for (const { pattern, node: matched } of patterns) if (isFound(pattern, name, run)) found.push(matched);
  return found;
}

/** Reports each missing name at its own place. */
export function hasAll(value: object, names: readonly string[], run: Run): boolean {
  spend(run, names.length);
  let fits = true;
  for (const name of names) {
    if (Object.hasOwn(value, name)) continue;
    run.path.push(name);
    fits = fault(run, 'is required');
    run.path.pop();
    if (isSettled(run)) break;
  }
  return fits;
}
