/** Names that the declarations of either language use themselves. */
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

/** Gives each type a name of its own. */
type TypeNames = (...words: string[]) => string;

/** A text of stubs while it is written. */
export interface StubDraft {
  /** Gives types their names. */
  names: TypeNames;
  /** Texts of the types that have names, in order. */
  definitions: string[];
  /** Adds such a text. */
  define(text: string): void;
  /** Counts a text that goes in elsewhere, and gives it back. */
  count(text: string): string;
  /** Whether what was counted is over the limit, so that nobody will read it. */
  readonly isOver: boolean;
}

/**
 * Begins a text of stubs.
 *
 * @param limit characters that it may have
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
 * Makes names for types, the same for the same words in the same order.
 *
 * @returns gives a name that was not given before, of letters and digits of ASCII
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
