import { listNames } from '../../skills/text/list-names.ts';

/** Leaves room for the rest of a message: an error text crosses into a sandbox up to 500 characters. */
const CHARACTERS = 320;

/** Lists as many whole names as a message to a sandbox holds, and says how many more there are. */
export function listFitting(names: readonly string[]): string {
  let length = 0;
  const first = names.findIndex((name) => (length += name.length + 2) > CHARACTERS);
  return listNames(names, first < 0 ? names.length : Math.max(1, first));
}
