/**
 * Matches a path with a pattern: `*` is one segment that is not empty, `**` any number of segments. Both are in the form of `normalPath`.
 *
 * After a mismatch only the last `**` takes one segment more: a longer share of an earlier `**` can never help. So each segment of the path
 * is compared at most once with each segment of the pattern, however many `**` there are.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  let at = 0;
  let index = 0;
  let afterStars: number | undefined;
  let taken = 0;
  while (index < given.length) {
    if (wanted[at] === '**') {
      at += 1;
      afterStars = at;
      taken = index;
    } else if (wanted[at] === given[index] || (wanted[at] === '*' && given[index] !== '')) {
      at += 1;
      index += 1;
    } else if (afterStars !== undefined) {
      at = afterStars;
      taken += 1;
      index = taken;
    } else return false;
  }
  return wanted.slice(at).every((segment) => segment === '**');
}
