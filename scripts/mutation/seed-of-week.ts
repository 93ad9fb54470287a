const DAY_MS = 86_400_000;

/** The ISO week of a time, such as `2026-W48`: a seed that is the same for everyone during a week. */
export function seedOfWeek(time: Date): string {
  const day = Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate());
  const daysSinceMonday = (time.getUTCDay() + 6) % 7;
  // A week belongs to the year of its Thursday.
  const thursday = new Date(day + (3 - daysSinceMonday) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return `${year}-W${String(week).padStart(2, '0')}`;
}
