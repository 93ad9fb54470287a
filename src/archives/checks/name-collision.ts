/**
 * Finds two paths that are the same on systems that fold case, compose accents, or replace full-width letters. Each parent folder counts as a
 * path, too: `A/x` and `a/y` are in the same folder on some systems.
 *
 * @returns the two original paths
 */
export function nameCollision(paths: Iterable<string>): [first: string, second: string] | undefined {
  const byKey = new Map<string, string>();
  const seen = new Set<string>();
  for (const path of paths) {
    for (const each of [...foldersAbove(path), path]) {
      if (seen.has(each)) continue;
      seen.add(each);
      const key = foldName(each);
      const first = byKey.get(key);
      if (first === undefined) byKey.set(key, each);
      else return [first, each];
    }
  }
  return undefined;
}

/** The parent folders of a path, the outermost first. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function foldName(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}
