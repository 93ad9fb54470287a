import * as z from 'zod';

/** Values that are not valid, after which a list or a record is refused as a whole. */
const MOST_FAULTS = 20;

/** A longer name of a record is in no error. */
const MOST_CHARACTERS = 4_096;

/** A list that is refused at its first values that are not valid: an error for each of many takes the time of other requests. */
export function boundedList<Item>(item: z.ZodType<Item>, most: number): z.ZodType<Item[]> {
  const isFault = (value: unknown): boolean => !item.safeParse(value).success;
  const check: Check = (value, ctx) => {
    if (Array.isArray(value)) refuseEarly(ctx, { values: value, most, isFault });
    return value;
  };
  return z.preprocess(check, z.array(item).max(most));
}

/** A record that is refused likewise. */
export function boundedRecord<Value>(
  key: z.ZodType<string>,
  item: z.ZodType<Value>,
  most: number,
): z.ZodType<Record<string, Value>> {
  const isFault = ([name, value]: [string, unknown]): boolean =>
    !key.safeParse(name).success || !item.safeParse(value).success;
  const check: Check = (value, ctx) => {
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    if (entries.some(([name]) => name.length > MOST_CHARACTERS)) {
      const message = `has a name of more than ${MOST_CHARACTERS} characters`;
      ctx.addIssue({ code: 'custom', message, continue: false });
    } else refuseEarly(ctx, { values: entries, most, isFault });
    return value;
  };
  const record = z.record(key as z.ZodString, item);
  return z.preprocess(check, record);
}

type Check = (value: unknown, ctx: z.RefinementCtx) => unknown;

/** Adds one error, and ends the check, for too many values or too many faults. */
function refuseEarly<Value>(
  ctx: z.RefinementCtx,
  { values, most, isFault }: { values: readonly Value[]; most: number; isFault(value: Value): boolean },
): void {
  const refuse = (message: string): void => ctx.addIssue({ code: 'custom', message, continue: false });
  if (values.length > most) return refuse(`may have at most ${most} values`);
  let faults = 0;
  for (const value of values) {
    if (isFault(value) && (faults += 1) > MOST_FAULTS)
      return refuse(`more than ${MOST_FAULTS} of its values are not valid`);
  }
}
