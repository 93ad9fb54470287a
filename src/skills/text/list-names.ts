/**
 * Lists the first of some names, and says how many more there are: `a, b and 3 more`.
 *
 * @param names what is listed
 * @param most how many are shown
 * @param show how one of them is written; only what is shown is written
 */
export function listNames<T>(names: readonly T[], most: number, show: (name: T) => string = String): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return (
    names
      .slice(0, most)
      .map((name) => show(name))
      .join(', ') + more
  );
}
