import { fileURLToPath } from 'node:url';
import { getCallSites } from 'node:util';
import { ANSWER, QUESTION, SHARED } from './stop-question.ts';
import { startsWith } from '../captured.ts';

const { load, compareExchange, notify, wait } = Atomics;
/** How long user code waits until its stop is claimed, and then until the stop is on its way. */
const CLAIM_MS = 500;
const STOP_MS = 10_000;
/** Internal code, as files and as modules. */
const RUNTIME = new URL('../../../', import.meta.url).href;
const OURS = [RUNTIME, fileURLToPath(RUNTIME), 'node:'];

/**
 * Answers the thread that stops user code, at any point of the main thread. The stack stays valid until the answer is given, because the same turn of
 * that code is still running.
 */
export function answerStops(shared: Int32Array): void {
  const value = (asked: number): void => {
    if (load(shared, SHARED.asked) !== asked) return;
    // The top two frames are this function and the question.
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
