import { listNames } from '../../skills/text/list-names.ts';

/** The most characters of a list. An error text in a sandbox has at most 500 characters, so this leaves room for the rest. */
const CHARACTERS = 320;

/** Lists as many whole names as fit into a message to a sandbox, and counts the others. */
export function listFitting(names: readonly string[]): string {
  let length = 0;
  const first = names.findIndex((name) => (length += name.length + 2) > CHARACTERS);
  return listNames(names, first < 0 ? names.length : Math.max(1, first));
}
