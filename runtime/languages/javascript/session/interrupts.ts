/** A thread of the interpreter: stops user code on the main thread when the supervisor asks and the main thread does not react. */
import inspector from 'node:inspector';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { interruptChildren } from './interrupt-children.ts';
import { ANSWER, QUESTION, SHARED } from './stop-question.ts';

const { pipe, shared } = workerData as { pipe: string; shared: Int32Array };
/** Time that the main thread has to notice a request, and the time between two attempts to stop it. */
const HEAR_MS = 60;
/** Attempts after which the main thread is assumed to wait for a program that it has started. */
const CODE_STOPS = 3;
/** How long one attempt waits for an answer. */
const ANSWER_MS = 50;
/** Answers from outside user code after which the main thread is stopped at any point: it may wait in a full pipe. */
const MOST_ANSWERS = 2_000;

const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
const requests = new Socket({ fd, readable: true, writable: false });
let received = 0;
let asked = 0;
let tries = 0;
let answers = 0;
let isStopping = false;
let timer: NodeJS.Timeout | undefined;
requests.on('data', (chunk: Buffer) => {
  received += chunk.length;
  timer ??= setTimeout(attempt, HEAR_MS);
});
requests.on('error', () => closeSync(fd));
parentPort?.postMessage('ready', []);

/** The main thread may have noticed more requests than this thread has. */
function isHeard(): boolean {
  return Atomics.load(shared, SHARED.heard) >= received;
}

function attempt(): void {
  timer = undefined;
  if (isHeard()) {
    tries = 0;
    answers = 0;
    return;
  }
  tries += 1;
  if (tries === CODE_STOPS) interruptChildren();
  // A second stop in parallel would end internal code that runs after user code.
  if (!isStopping) stopUserCode();
  timer = setTimeout(attempt, HEAR_MS);
}

function stopUserCode(): void {
  // Connects only for this stop: with a debugger still connected at its end, Node prints to stderr that it waits for the debugger.
  const session = new inspector.Session();
  session.connectToMainThread();
  // Each question is answered at the next turn of the running code: functions that user code calls soon return to it.
  let answer: number = ANSWER.goOn;
  for (; answer === ANSWER.goOn && answers <= MOST_ANSWERS && !isHeard(); answers += 1) answer = ask(session);
  // The main thread waits at its answer only briefly.
  const waits = Atomics.compareExchange(shared, SHARED.answer, ANSWER.stop, ANSWER.claimed) === ANSWER.stop;
  if (waits || answers > MOST_ANSWERS) stop(session);
  else session.disconnect();
}

/** Asks the main thread whether it is running user code. If so, the main thread waits there. A later question replaces this one. */
function ask(session: inspector.Session): number {
  asked += 1;
  Atomics.store(shared, SHARED.answer, ANSWER.none);
  Atomics.store(shared, SHARED.asked, asked);
  session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('${QUESTION}')](${asked})`, silent: true });
  Atomics.wait(shared, SHARED.answer, ANSWER.none, ANSWER_MS);
  return Atomics.load(shared, SHARED.answer);
}

function stop(session: inspector.Session): void {
  isStopping = true;
  session.post('Runtime.terminateExecution', () => {
    session.disconnect();
    isStopping = false;
    answers = 0;
    clearTimeout(timer);
    timer = setTimeout(attempt, HEAR_MS);
  });
  Atomics.store(shared, SHARED.answer, ANSWER.stopping);
  Atomics.notify(shared, SHARED.answer);
}
