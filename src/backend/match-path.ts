import { globMatch } from '../skills/text/glob-match.ts';

/**
 * Tells whether a pattern matches a whole path. `*` stands for any characters of one name, `?` for one, a name `**` for any number of
 * names. Takes time linear in names × names.
 */
export function matchPath(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const names = path.split('/');
  // Which beginnings of the pattern match the names that were looked at.
  let reached = new Set<number>(skipStars(parts, [0]));
  for (const name of names) {
    const points = [...name];
    const next: number[] = [];
    for (const at of reached) {
      const part = parts[at];
      if (part === undefined) continue;
      if (part === '**') next.push(at);
      else if (globMatch([...part], points)) next.push(at + 1);
    }
    reached = new Set(skipStars(parts, next));
  }
  return reached.has(parts.length);
}

/** A `**` may stand for no name at all. */
function skipStars(parts: readonly string[], places: readonly number[]): number[] {
  const all = [...places];
  for (const place of places) for (let at = place; parts[at] === '**'; at += 1) all.push(at + 1);
  return all;
}
