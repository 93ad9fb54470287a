import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import { ANSWER, QUESTION, SHARED } from './stop-question.ts';
import { startsWith } from '../captured.ts';

const { load, compareExchange, notify, wait } = Atomics;
/** How long code of users waits for its stop to be claimed, and then for the stop to be on its way. */
const CLAIM_MS = 500;
const STOP_MS = 10_000;
/** What is ours, as files and as modules. */
const RUNTIME = new URL('../../../', import.meta.url).href;
const OURS = [RUNTIME, fileURLToPath(RUNTIME), 'node:'];

/**
 * Answers the thread that stops code of users, within whatever the main thread runs. What the stack shows there holds until the answer is
 * given: it is the same turn of that code.
 */
export function answerStops(shared: Int32Array): void {
  const value = (asked: number): void => {
    if (load(shared, SHARED.asked) !== asked) return;
    // Above it are this function and the question.
    const [, , stopped] = getCallSites(3);
    const answer = stopped === undefined ? ANSWER.idle : isOfUsers(stopped.scriptName) ? ANSWER.stop : ANSWER.goOn;
    if (compareExchange(shared, SHARED.answer, ANSWER.none, answer) !== ANSWER.none) return;
    notify(shared, SHARED.answer);
    if (answer !== ANSWER.stop) return;
    wait(shared, SHARED.answer, ANSWER.stop, CLAIM_MS);
    if (compareExchange(shared, SHARED.answer, ANSWER.stop, ANSWER.expired) === ANSWER.stop) return;
    wait(shared, SHARED.answer, ANSWER.claimed, STOP_MS);
  };
  Object.defineProperty(globalThis, Symbol.for(QUESTION), { value });
}

function isOfUsers(script: string): boolean {
  for (let index = 0; index < OURS.length; index += 1) if (startsWith(script, OURS[index] as string)) return false;
  return true;
}
