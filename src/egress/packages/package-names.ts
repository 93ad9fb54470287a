import type { RegistryKind } from './package-registry.ts';

const LONGEST = 214;
const NPM_NAME = /^(?:@[A-Za-z0-9][A-Za-z0-9._-]*\/)?[A-Za-z0-9][A-Za-z0-9._-]*$/;
const PYPI_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const NPM_PATTERN = /^(?:@[A-Za-z0-9*][A-Za-z0-9._*-]*\/)?[A-Za-z0-9*][A-Za-z0-9._*-]*$/;
const PYPI_PATTERN = /^[A-Za-z0-9*][A-Za-z0-9._*-]*$/;
/** Both installers take such a text for the name of a file. */
const ARCHIVE = /\.(?:tgz|tar|tar\.(?:gz|bz2|xz|lzma|Z)|tbz|tbz2|txz|tlz|zip|whl)$/i;

/** Whether a text is a name that a registry of this kind can have, and that no installer takes for anything else. */
export function isPackageName(kind: RegistryKind, text: string): boolean {
  const form = kind === 'npm' ? NPM_NAME : PYPI_NAME;
  return text.length <= LONGEST && form.test(text) && !isArchiveName(text);
}

/** Whether installers take a text for the name of an archive. */
export function isArchiveName(text: string): boolean {
  return ARCHIVE.test(text);
}

/** The form in which names are compared. Those of Python have one by PEP 503: `Foo._Bar` is `foo-bar`. */
export function normalName(kind: RegistryKind, name: string): string {
  return kind === 'npm' ? name : name.toLowerCase().replace(/[._-]+/g, '-');
}

/** The scope of a name of npm with its `@`; undefined without one. */
export function scopeOf(name: string): string | undefined {
  return name.startsWith('@') ? name.slice(0, name.indexOf('/')) : undefined;
}

/** Whether a text is a pattern of names: a name in which `*` stands for any characters within it. */
export function isNamePattern(kind: RegistryKind, text: string): boolean {
  const form = kind === 'npm' ? NPM_PATTERN : PYPI_PATTERN;
  return text.length <= LONGEST && form.test(text);
}

/** Matches a name with a pattern. `*` alone stands for all names; within a pattern it never crosses the slash behind a scope. */
export function matchesName(kind: RegistryKind, pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  const [wanted, given] = [normalName(kind, pattern).split('/'), normalName(kind, name).split('/')];
  return wanted.length === given.length && wanted.every((part, index) => matchesPart(part, given[index] ?? ''));
}

/** The pieces between the stars stand in the text in their order; the first at its start, and the last at its end. */
function matchesPart(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
