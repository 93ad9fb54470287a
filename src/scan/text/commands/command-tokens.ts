/** A word of a command line, without characters of quotes, groups and substitutions. */
export interface CommandToken {
  word: string;
  /** Offset in the line. */
  at: number;
}

const TOKEN = /[^\s`"'(){}<>&;]+/g;

/** Cuts a command line into words. */
export function commandTokens(line: string): CommandToken[] {
  return [...line.matchAll(TOKEN)].map(({ 0: word, index }) => ({ word, at: index }));
}

/** The name behind the last slash, without query and fragment of an address. */
export function baseName(path: string): string {
  const end = path.search(/[?#]/);
  const own = end < 0 ? path : path.slice(0, end);
  return own.slice(own.lastIndexOf('/') + 1);
}
