/** Names that the declarations of either language use for other things. */
const TAKEN = [
  'Any',
  'Array',
  'Callable',
  'Literal',
  'Never',
  'NotRequired',
  'Promise',
  'Record',
  'TypedDict',
  'Uint8Array',
];
const TAKEN_TOO = ['False', 'None', 'True'];
const LONGEST = 60;

/** Returns a unique name for a type. */
type TypeNames = (...words: string[]) => string;

/** A text of stubs in progress. */
export interface StubDraft {
  /** Names types. */
  names: TypeNames;
  /** Texts of the named types, in order. */
  definitions: string[];
  /** Adds the text of a named type. */
  define(text: string): void;
  /** Counts a text that is used elsewhere, and returns it. */
  count(text: string): string;
  /** Whether the counted text exceeds the limit, so that it will be discarded. */
  readonly isOver: boolean;
}

/**
 * Begins a text of stubs.
 *
 * @param limit most characters
 * @returns an empty draft
 */
export function stubDraft(limit: number): StubDraft {
  let left = limit;
  const definitions: string[] = [];
  const count = (text: string): string => {
    left -= text.length;
    return text;
  };
  return {
    names: typeNames(),
    definitions,
    define: (text) => {
      definitions.push(count(text));
    },
    count,
    get isOver() {
      return left < 0;
    },
  };
}

/**
 * Makes names for types. The same words in the same order give the same names.
 *
 * @returns a function that returns a new name of ASCII letters, digits and underscores
 */
function typeNames(): TypeNames {
  const given = new Set([...TAKEN, ...TAKEN_TOO]);
  return (...words) => {
    const plain = words.map(pascalCase).join('').slice(0, LONGEST) || 'Type';
    const base = /^\d/.test(plain) ? `T${plain}` : plain;
    let name = base;
    for (let count = 2; given.has(name); count += 1) name = `${base}${/\d$/.test(base) ? '_' : ''}${count}`;
    given.add(name);
    return name;
  };
}

function pascalCase(text: string): string {
  const words = text.slice(0, LONGEST * 4).split(/[^A-Za-z0-9]+/);
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}
