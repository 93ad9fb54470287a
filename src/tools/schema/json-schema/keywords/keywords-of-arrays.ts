import { isCount, isList } from '../../document/kinds-of-values.ts';
import { keyword } from '../../document/schema-part.ts';
import { canonicalForm } from './canonical-form.ts';
import { countBounds } from './count-bounds.ts';
import { optional, optionalBelow, optionalList, type Keyword } from './keyword.ts';
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
      const prefix = optionalList(reading, 'prefixItems') ?? [];
      return itemsCheck(prefix.map(reading.below), optionalBelow(reading, 'items'));
    },
  },
  {
    names: ['contains', 'minContains', 'maxContains'],
    read(reading) {
      const min = optional(reading, 'minContains', isCount, 'a whole number from 0') ?? 1;
      const max = optional(reading, 'maxContains', isCount, 'a whole number from 0') ?? Infinity;
      const node = optionalBelow(reading, 'contains');
      return node && containsCheck(node, min, max);
    },
  },
];

/** Keywords of draft-07 that apply only to arrays. */
export const KEYWORDS_OF_ARRAYS_07: readonly Keyword[] = [
  ...ARRAYS_IN_BOTH,
  {
    names: ['items', 'additionalItems'],
    read(reading) {
      const rest = optionalBelow(reading, 'additionalItems');
      if (isList(keyword(reading.part, 'items')))
        return itemsCheck((optionalList(reading, 'items') ?? []).map(reading.below), rest);
      const items = optionalBelow(reading, 'items');
      return items && itemsCheck([], items);
    },
  },
  {
    names: ['contains'],
    read(reading) {
      const node = optionalBelow(reading, 'contains');
      return node && containsCheck(node, 1, Infinity);
    },
  },
];

/** Applies to the items that no other keyword has evaluated. */
export const UNEVALUATED_ITEMS: Keyword = {
  names: ['unevaluatedItems'],
  read(reading) {
    const node = optionalBelow(reading, 'unevaluatedItems');
    return (value, run, marks) =>
      !isList(value) || everyItem(value, run, marks, (index) => (marks?.has(index) ? undefined : node));
  },
};

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
