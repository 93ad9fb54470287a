import { canonicalForm } from './canonical-form.ts';
import { countBounds } from './count-bounds.ts';
import { isCount, isList, optional, type Keyword, type SchemaReading } from './keyword.ts';
import { addMark, type Marks } from '../marks.ts';
import { attempt, evaluateAt, type Check, type SchemaNode } from '../node.ts';
import { fault, isSettled, spend, type Run } from '../run.ts';

const ARRAYS_IN_BOTH: readonly Keyword[] = [
  ...countBounds('Items', { count: (value) => (isList(value) ? value.length : undefined), unit: () => 'items' }),
  {
    names: ['uniqueItems'],
    read(reading) {
      const asked = optional(reading, 'uniqueItems', isBoolean, 'true or false');
      if (asked !== true) return undefined;
      return (value, run) => !isList(value) || hasUniqueItems(value, run) || fault(run, 'must have no item twice');
    },
  },
];

/** Keywords of 2020-12 that apply only to arrays. */
export const KEYWORDS_OF_ARRAYS_2020: readonly Keyword[] = [
  ...ARRAYS_IN_BOTH,
  {
    names: ['prefixItems', 'items'],
    read(reading) {
      const prefix = schemasOf(reading, 'prefixItems');
      const rest = 'items' in reading.schema ? reading.below('items') : undefined;
      return itemsCheck(prefix, rest);
    },
  },
  {
    names: ['contains', 'minContains', 'maxContains'],
    read(reading) {
      const min = optional(reading, 'minContains', isCount, 'a whole number from 0') ?? 1;
      const max = optional(reading, 'maxContains', isCount, 'a whole number from 0') ?? Infinity;
      return 'contains' in reading.schema ? containsCheck(reading.below('contains'), min, max) : undefined;
    },
  },
];

/** Keywords of draft-07 that apply only to arrays. */
export const KEYWORDS_OF_ARRAYS_07: readonly Keyword[] = [
  ...ARRAYS_IN_BOTH,
  {
    names: ['items', 'additionalItems'],
    read(reading) {
      const { items } = reading.schema;
      const rest = 'additionalItems' in reading.schema ? reading.below('additionalItems') : undefined;
      if (isList(items)) return itemsCheck(schemasOf(reading, 'items'), rest);
      return 'items' in reading.schema ? itemsCheck([], reading.below('items')) : undefined;
    },
  },
  {
    names: ['contains'],
    read: (reading) =>
      'contains' in reading.schema ? containsCheck(reading.below('contains'), 1, Infinity) : undefined,
  },
];

/** Applies to the items that no other keyword has evaluated. */
export const UNEVALUATED_ITEMS: Keyword = {
  names: ['unevaluatedItems'],
  read(reading) {
    if (!('unevaluatedItems' in reading.schema)) return undefined;
    const node = reading.below('unevaluatedItems');
    return (value, run, marks) =>
      !isList(value) || everyItem(value, run, marks, (index) => (marks?.has(index) ? undefined : node));
  },
};

function schemasOf(reading: SchemaReading, name: string): SchemaNode[] {
  const schemas = optional(reading, name, isFilledList, 'a list of schemas') ?? [];
  return schemas.map((_, index) => reading.below(name, String(index)));
}

export function isFilledList(value: unknown): value is readonly unknown[] {
  return isList(value) && value.length > 0;
}

function itemsCheck(prefix: readonly SchemaNode[], rest: SchemaNode | undefined): Check {
  return (value, run, marks) =>
    !isList(value) || everyItem(value, run, marks, (index) => (index < prefix.length ? prefix[index] : rest));
}

/** Checks each item by the schema for its place, if there is one. */
function everyItem(
  items: readonly unknown[],
  run: Run,
  marks: Marks | undefined,
  nodeOf: (index: number) => SchemaNode | undefined,
): boolean {
  spend(run, items.length);
  let fits = true;
  for (const [index, item] of items.entries()) {
    const node = nodeOf(index);
    if (node === undefined) continue;
    addMark(marks, index, run);
    fits = evaluateAt(node, index, item, run) && fits;
    if (!fits && isSettled(run)) break;
  }
  return fits;
}

function containsCheck(node: SchemaNode, min: number, max: number): Check {
  return (value, run, marks) => {
    if (!isList(value)) return true;
    spend(run, value.length);
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (!attempt(node, item, run, undefined)) continue;
      found += 1;
      addMark(marks, index, run);
    }
    if (found < min) return fault(run, `must contain at least ${min} items of a kind`);
    return found <= max || fault(run, `must contain at most ${max} items of a kind`);
  };
}

/** Takes time in proportion to the items, even for equal ones. */
function hasUniqueItems(items: readonly unknown[], run: Run): boolean {
  const forms = new Set<string>();
  for (const item of items) {
    const form = canonicalForm(item, run);
    if (forms.has(form)) return false;
    forms.add(form);
  }
  return true;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}
