/** A JSON schema object. Only own members count, because it may be untrusted. */
export type SchemaObject = Record<string, unknown>;

/** Whether a value can hold keywords. */
export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a keyword; undefined if the schema has no own member of this name. */
export function keyword(schema: SchemaObject, name: string): unknown {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

/** The items of a keyword with a list; empty for any other value. */
export function keywordList(schema: SchemaObject, name: string): readonly unknown[] {
  const value = keyword(schema, name);
  return Array.isArray(value) ? value : [];
}

/** The members of a keyword with an object; empty for any other value. */
export function keywordEntries(schema: SchemaObject, name: string): [string, unknown][] {
  const value = keyword(schema, name);
  return isSchemaObject(value) ? Object.entries(value) : [];
}

/**
 * Finds the target of a `$ref` in a schema: `#`, a JSON pointer (RFC 6901) in the fragment, or an anchor of `$defs`.
 *
 * @param root the whole schema
 * @param reference the value of `$ref`
 * @returns the part, its pointer as key, and the last name of the pointer; undefined if it is not in the schema
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
    // An invalid escape: the reference has no target.
    return undefined;
  }
}
