/** The first rows that together have at most so many characters, as JSON. */
export function takeFitting<Row>(rows: readonly Row[], characters: number): Row[] {
  let room = characters;
  const end = rows.findIndex((row) => (room -= JSON.stringify(row).length) < 0);
  return end < 0 ? [...rows] : rows.slice(0, end);
}
