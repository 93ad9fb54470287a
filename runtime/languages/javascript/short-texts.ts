import { slice } from './captured.ts';
import type { ErrorTexts } from './describe-error.ts';

/** Most characters of each text of an error in a report. */
const MOST = 60_000;

/** The texts of an error before the check: user code may have put any value there. */
type GivenTexts = Record<keyof ErrorTexts, unknown>;

/** The texts of an error, short enough for a message. The end of a stack names the place, so the middle is left out. */
export function shortTexts({ name, message, stack }: GivenTexts): GivenTexts {
  return { name: short(name), message: short(message), stack: short(stack) };
}

function short(text: unknown): unknown {
  return typeof text === 'string' && text.length > MOST
    ? `${slice(text, 0, MOST / 2)}\n…\n${slice(text, -MOST / 2)}`
    : text;
}
