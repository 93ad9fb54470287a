import { isCount } from '../../document/kinds-of-values.ts';
import { optional, type Keyword } from './keyword.ts';
import { fault, type Run } from '../run.ts';

/** A count of a value's parts. */
export interface Counted {
  /** @returns undefined for a value that the keyword does not apply to */
  count(value: unknown, run: Run): number | undefined;
  /** Unit of the count, for messages. */
  unit(value: unknown): string;
}

/** The two keywords that bound a count, such as `minItems` and `maxItems` for `Items`. */
export function countBounds(name: string, counted: Counted): [Keyword, Keyword] {
  return [
    countBound(`min${name}`, counted, (count, limit) => count >= limit, 'at least'),
    countBound(`max${name}`, counted, (count, limit) => count <= limit, 'at most'),
  ];
}

function countBound(
  name: string,
  { count, unit }: Counted,
  fits: (count: number, limit: number) => boolean,
  told: string,
): Keyword {
  return {
    names: [name],
    read(reading) {
      const limit = optional(reading, name, isCount, 'a whole number from 0');
      if (limit === undefined) return undefined;
      return (value, run) => {
        const found = count(value, run);
        return found === undefined || fits(found, limit) || fault(run, `must have ${told} ${limit} ${unit(value)}`);
      };
    },
  };
}
