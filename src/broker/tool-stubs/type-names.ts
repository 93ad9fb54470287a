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
export type TypeNames = (...words: string[]) => string;

/**
 * Makes names for types, the same for the same words in the same order.
 *
 * @returns gives a name that was not given before, of letters and digits of ASCII
 */
export function typeNames(): TypeNames {
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
