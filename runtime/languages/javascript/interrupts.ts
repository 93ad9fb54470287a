/** A thread of the interpreter: stops what the main thread runs when the supervisor asks, and the main thread does not hear. */
import inspector from 'node:inspector';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { interruptChildren } from './interrupt-children.ts';
import { ANSWER, QUESTION, SHARED } from './stop-question.ts';

const { pipe, shared } = workerData as { pipe: string; shared: Int32Array };
/** What the main thread has to hear a request, and what a stop may take before it is tried again. */
const HEAR_MS = 60;
const MOST_STOPS = 20;
/** Stops after which it is no code that the main thread runs: it waits for a program that it has started. */
const CODE_STOPS = 3;
/** How long an answer may take. */
const ANSWER_MS = 50;
/** Answers without code of users, and questions without an answer, after which whatever runs is stopped: it may wait in a full pipe. */
const MOST_ANSWERS = 2_000;
const MOST_SILENCES = 3;

const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
const requests = new Socket({ fd, readable: true, writable: false });
let received = 0;
let asked = 0;
requests.on('data', (chunk: Buffer) => {
  received += chunk.length;
  const wanted = received;
  // The main thread may have heard of more than this thread has.
  const isHeard = (): boolean => Atomics.load(shared, SHARED.heard) >= wanted;
  let stops = 0;
  let answers = 0;
  let silences = 0;
  const timer = setInterval(() => {
    if (isHeard() || (stops += 1) > MOST_STOPS) return clearInterval(timer);
    if (stops === CODE_STOPS) interruptChildren();
    // Connects for this alone: Node says on stderr that it waits for a debugger where one is connected at the end.
    const session = new inspector.Session();
    session.connectToMainThread();
    // Each question is answered at the next turn of whatever runs: what code of users calls comes back to it soon.
    let answer: number = ANSWER.goOn;
    for (; answer === ANSWER.goOn && answers <= MOST_ANSWERS && !isHeard(); answers += 1) answer = ask(session);
    if (answer === ANSWER.none) silences += 1;
    if (answer === ANSWER.stop || answers > MOST_ANSWERS || silences > MOST_SILENCES) stop(session);
    else session.disconnect();
  }, HEAR_MS);
});
requests.on('error', () => closeSync(fd));
parentPort?.postMessage('ready', []);

/** Asks the main thread, at whatever it runs, whether that is code of users. There it waits where it is. */
function ask(session: inspector.Session): number {
  asked += 1;
  Atomics.store(shared, SHARED.answer, ANSWER.none);
  Atomics.store(shared, SHARED.asked, asked);
  session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('${QUESTION}')](${asked})`, silent: true });
  Atomics.wait(shared, SHARED.answer, ANSWER.none, ANSWER_MS);
  return Atomics.compareExchange(shared, SHARED.answer, ANSWER.none, ANSWER.tooLate);
}

function stop(session: inspector.Session): void {
  session.post('Runtime.terminateExecution', () => session.disconnect());
  Atomics.store(shared, SHARED.answer, ANSWER.stopping);
  Atomics.notify(shared, SHARED.answer);
}
