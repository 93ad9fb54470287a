/**
 * Lists the first names and counts the others: `a, b and 3 more`.
 *
 * @param names the names
 * @param most number of names to show
 * @param show writes one name; it is called only for shown names
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
