/** A JSON schema that is an object. Only its own members count: it may come from anywhere. */
export type SchemaObject = Record<string, unknown>;

/** Whether a value can hold keywords. */
export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a keyword, undefined where the schema has none of its own. */
export function keyword(schema: SchemaObject, name: string): unknown {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

/** The items of a keyword that holds a list; none where it holds something else. */
export function keywordList(schema: SchemaObject, name: string): readonly unknown[] {
  const value = keyword(schema, name);
  return Array.isArray(value) ? value : [];
}

/** The members of a keyword that holds an object; none where it holds something else. */
export function keywordEntries(schema: SchemaObject, name: string): [string, unknown][] {
  const value = keyword(schema, name);
  return isSchemaObject(value) ? Object.entries(value) : [];
}

/**
 * Finds the part of a schema that a `$ref` means: `#`, a JSON pointer (RFC 6901) in the fragment, or an anchor of `$defs`.
 *
 * @param root the whole schema
 * @param reference the value of `$ref`
 * @returns the part with its pointer as key and the last name on the way to it; undefined for what is not in the schema
 */
export function findReferenced(
  root: unknown,
  reference: unknown,
): { key: string; name: string; part: unknown } | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const pointer = decodeFragment(reference.slice(1));
  if (pointer === undefined) return undefined;
  if (pointer !== '' && !pointer.startsWith('/')) return findAnchor(root, pointer);
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let part = root;
  for (const step of steps) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, step)) return undefined;
    part = (part as SchemaObject)[step];
  }
  return { key: pointer, name: steps.at(-1) ?? '', part };
}

function findAnchor(root: unknown, anchor: string): { key: string; name: string; part: unknown } | undefined {
  if (!isSchemaObject(root)) return undefined;
  for (const holder of ['$defs', 'definitions']) {
    for (const [name, part] of keywordEntries(root, holder)) {
      if (isSchemaObject(part) && keyword(part, '$anchor') === anchor) return { key: `/${holder}/${name}`, name, part };
    }
  }
  return undefined;
}

function decodeFragment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not an address: then nothing is meant by it.
    return undefined;
  }
}
