const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_MINUTES = 1_440;

/** `full-date` of RFC 3339. */
export function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** `full-time` of RFC 3339. A leap second ends a day in UTC. */
export function isTime(text: string): boolean {
  const found = TIME.exec(text);
  if (found === null) return false;
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number);
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === '-' ? -1 : 1);
  return (hour * 60 + minute - offset + DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;
}

/** `date-time` of RFC 3339. */
export function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^t$/i.test(text.charAt(10)) && isTime(text.slice(11));
}
