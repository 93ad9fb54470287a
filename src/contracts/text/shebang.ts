/** The first line of a program that names its interpreter. */
export interface Shebang {
  /** The interpreter without folder and minor version: `python3` of `#!/usr/bin/env -S LANG=C python3.11 -u`. */
  interpreter: string;
  /** Words after the interpreter. */
  options: string[];
}

/** Reads the first line of a program; `undefined` if it does not begin with `#!`. */
export function readShebang(code: string): Shebang | undefined {
  const line = /^\uFEFF?#!([^\r\n]*)/.exec(code)?.[1];
  if (line === undefined) return undefined;
  const words = line.trim().split(/\s+/);
  const first =
    baseName(words[0] ?? '') === 'env' ? words.findIndex((word, index) => index > 0 && !/^-|=/.test(word)) : 0;
  const interpreter = withoutVersion(baseName(words[first] ?? ''));
  return { interpreter, options: first < 0 ? [] : words.slice(first + 1) };
}

/** `python3.12` becomes `python3`: removes dots with digits at the end. */
function withoutVersion(name: string): string {
  let end = name.length;
  for (let dot = end; ; end = dot) {
    while (/\d/.test(name[dot - 1] ?? '')) dot -= 1;
    if (dot === end || name[dot - 1] !== '.') return name.slice(0, end);
    dot -= 1;
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
