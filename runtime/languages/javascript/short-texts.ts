import { slice } from './captured.ts';
import type { ErrorTexts } from './describe-error.ts';

/** Characters of each text of an error that the supervisor is told. */
const MOST = 60_000;

/** What is to be the texts of an error: code of users may have made anything of one. */
type GivenTexts = Record<keyof ErrorTexts, unknown>;

/** The texts of an error as they fit into a message. The end of a stack says where it was, so the middle is left out. */
export function shortTexts({ name, message, stack }: GivenTexts): GivenTexts {
  return { name: short(name), message: short(message), stack: short(stack) };
}

function short(text: unknown): unknown {
  return typeof text === 'string' && text.length > MOST
    ? `${slice(text, 0, MOST / 2)}\n…\n${slice(text, -MOST / 2)}`
    : text;
}
