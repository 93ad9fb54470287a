/**
 * Tells whether a path of a descriptor names a file below a skill folder: relative, without `.`, `..` or empty parts, and
 * without control characters. Backslashes separate parts too, as on other systems.
 *
 * @param path as it is listed
 * @returns true if it may be looked up and unpacked
 */
export function isFilePath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the check looks for control characters
  if (/[\u0000-\u001f\u007f]/.test(path) || /^[A-Za-z]:/.test(path)) return false;
  return path.split(/[/\\]/).every((part) => part !== '' && part !== '.' && part !== '..');
}

/**
 * Finds the faulty paths of one skill: not a file path, listed twice, or used as a folder by another path.
 *
 * @param paths as they are listed
 * @returns the faulty paths
 */
export function faultyPaths(paths: readonly string[]): string[] {
  const seen = new Set<string>();
  const folders = new Set<string>();
  const faulty = paths.filter((path) => {
    const fault = !isFilePath(path) || seen.has(path);
    seen.add(path);
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      folders.add(path.slice(0, slash));
    }
    return fault;
  });
  return [...new Set([...faulty, ...[...seen].filter((path) => folders.has(path))])];
}
