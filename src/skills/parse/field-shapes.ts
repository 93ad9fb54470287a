import { isScalar } from './yaml/lazy-yaml.ts';
import { bareReference, fullId } from '../text/bare-reference.ts';
import { dataOf, entriesOf, isNull, itemsOf, setOwn, writtenText } from './yaml/yaml-values.ts';

/** Result of reading the value of a known key. Without `value`, the field counts as absent. */
export interface Shaped {
  value?: unknown;
  /** The unusable part, as data; it stays in `extra`. */
  rest?: unknown;
  /** Whether the value has an unusable shape, although it sets the field. */
  faulty?: true;
  /** Known keys of a map with unusable values; these are in `rest`. */
  faults?: Fault[];
}

/** A known key with an unusable value. */
export interface Fault {
  /** The key, with the keys of the maps around it in front: `triggers.verbs`. */
  field: string;
  /** The node of the key, for its place. */
  keyNode: unknown;
  /** Allowed values, as in {@link Shape.allowed}. */
  allowed: string;
}

/** Allowed shape of the value of a known key. */
export interface Shape {
  /** For people, as the end of "it must be". */
  allowed: string;
  /** Reads a value; undefined if its shape is unusable. */
  read: (node: unknown) => Shaped | undefined;
}

/** One text, trimmed. */
export const textShape: Shape = {
  allowed: 'a text',
  read: (node) => {
    const text = writtenText(node);
    return text === undefined ? undefined : present(text.trim());
  },
};

/** True or false, as YAML booleans; words such as "yes" do not count. */
export const truthShape: Shape = {
  allowed: 'true or false',
  read: (node) => (isScalar(node) && typeof node.value === 'boolean' ? { value: node.value } : undefined),
};

/** True or false. Any other value counts as true, so that a wrong value forbids rather than allows. */
export const forbiddingShape: Shape = {
  allowed: 'true or false; this one counts as true',
  read: (node) => truthShape.read(node) ?? { value: true, rest: dataOf(node), faulty: true },
};

/** A list of names as written, and of maps as data. */
export const nameListShape: Shape = {
  allowed: 'a list',
  read: (node) => {
    const items = itemsOf(node);
    return items === undefined ? undefined : present(items.map((item) => writtenText(item) ?? dataOf(item)));
  },
};

/** A list of texts, or a text cut at commas. */
export const commaListShape: Shape = listShape('a text cut at commas', (text) => text.split(','));

/** A list of texts, or one text. */
export const textListShape: Shape = listShape('a text', (text) => [text]);

/** A list of texts, or a text of lines; hyphens at their beginnings don't count. */
export const lineListShape: Shape = listShape('a text cut at lines', (text) => text.split('\n'), withoutHyphen);

/** References to skills: a list, or a text cut at lines and commas. A reference without a namespace means `public`. */
export const importListShape: Shape = listShape(
  'a text cut at lines and commas',
  (text) => text.split(/[\n,]/),
  importedId,
);

/** Tool permissions: a list, or a text cut at commas and blanks outside parentheses. */
export const permissionListShape: Shape = listShape('a text cut at commas and blanks', cutOutsideParentheses);

/** A map whose scalars are texts as written; nested values are data. */
export const textMapShape: Shape = {
  allowed: 'a map',
  read: (node) => {
    const entries = entriesOf(node);
    if (entries === undefined) return undefined;
    const map: Record<string, unknown> = {};
    for (const { key, node: value } of entries) {
      if (!isNull(value)) setOwn(map, key, writtenText(value) ?? dataOf(value));
    }
    return present(map);
  },
};

const triggerMap = mapShape({ keywords: commaListShape, verbs: commaListShape, patterns: textListShape });

/** Keywords, verbs and patterns; a plain list or a text means keywords. */
export const triggersShape: Shape = {
  allowed: `${triggerMap.allowed}, ${commaListShape.allowed}`,
  read: (node) => {
    if (entriesOf(node) !== undefined) return triggerMap.read(node);
    const keywords = commaListShape.read(node);
    return keywords?.value === undefined ? keywords : { value: { keywords: keywords.value } };
  },
};

/** Module and class of a provider. */
export const providerShape: Shape = mapShape({ module: textShape, class: textShape });

/** Makes the shape of a map with known keys. Keys beyond them stay in `rest`. */
function mapShape(shapes: Record<string, Shape>): Shape {
  const names = Object.keys(shapes);
  return {
    allowed: `a map of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`,
    read: (node) => {
      const entries = entriesOf(node);
      if (entries === undefined) return undefined;
      const map: Record<string, unknown> = {};
      const rest: Record<string, unknown> = {};
      const faults: Fault[] = [];
      for (const { key, keyNode, node: value } of entries) {
        const shape = Object.hasOwn(shapes, key) ? shapes[key] : undefined;
        if (shape !== undefined && isNull(value)) continue;
        const shaped = shape?.read(value);
        if (shaped === undefined) setOwn(rest, key, dataOf(value));
        else if (shaped.value !== undefined) map[key] = shaped.value;
        if (shape !== undefined && shaped === undefined) faults.push({ field: key, keyNode, allowed: shape.allowed });
      }
      return { ...present(map), ...(Object.keys(rest).length === 0 ? {} : { rest, faults }) };
    },
  };
}

/** Makes the shape of a list of texts that may also be one text. */
function listShape(
  asText: string,
  cut: (text: string) => string[],
  clean: (item: string) => string = (item) => item,
): Shape {
  return {
    allowed: `${asText}, or a list of texts`,
    read: (node) => {
      const text = writtenText(node);
      const items =
        text === undefined ? itemsOf(node)?.map((item) => (isNull(item) ? '' : writtenText(item))) : cut(text);
      if (items === undefined) return undefined;
      const list: string[] = [];
      for (const item of items) {
        if (item === undefined) return undefined;
        const cleaned = clean(item.trim());
        if (cleaned !== '') list.push(cleaned);
      }
      return present(list);
    },
  };
}

/** Leaves out an empty value: an empty field counts as absent. */
function present(value: string | unknown[] | Record<string, unknown>): Shaped {
  const size = typeof value === 'string' || Array.isArray(value) ? value.length : Object.keys(value).length;
  return size === 0 ? {} : { value };
}

function withoutHyphen(item: string): string {
  return item.replace(/^-(?:\s+|$)/, '');
}

function importedId(item: string): string {
  const bare = bareReference(withoutHyphen(item));
  return bare && fullId(bare);
}

function cutOutsideParentheses(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && (character === ',' || character.trim() === '')) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}
