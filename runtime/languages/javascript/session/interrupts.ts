/** A thread of the interpreter: stops what the main thread runs when the supervisor asks, and the main thread does not hear. */
import inspector from 'node:inspector';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { interruptChildren } from './interrupt-children.ts';
import { ANSWER, QUESTION, SHARED } from './stop-question.ts';

const { pipe, shared } = workerData as { pipe: string; shared: Int32Array };
/** Time that the main thread has to hear a request, and between two tries to stop it. */
const HEAR_MS = 60;
/** Tries after which the main thread is taken to wait for a program that it has started. */
const CODE_STOPS = 3;
/** How long one try waits for an answer. */
const ANSWER_MS = 50;
/** Answers from elsewhere than user code after which the main thread is stopped wherever it is: it may wait in a full pipe. */
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

/** The main thread may have heard of more requests than this thread has. */
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
  // A second stop beside the first would end our own code that comes after the code of users.
  if (!isStopping) stopUserCode();
  timer = setTimeout(attempt, HEAR_MS);
}

function stopUserCode(): void {
  // Connects for this alone: Node says on stderr that it waits for a debugger where one is connected at the end.
  const session = new inspector.Session();
  session.connectToMainThread();
  // Each question is answered at the next turn of whatever runs: what code of users calls comes back to it soon.
  let answer: number = ANSWER.goOn;
  for (; answer === ANSWER.goOn && answers <= MOST_ANSWERS && !isHeard(); answers += 1) answer = ask(session);
  // The main thread waits at its answer for a moment only.
  const waits = Atomics.compareExchange(shared, SHARED.answer, ANSWER.stop, ANSWER.claimed) === ANSWER.stop;
  if (waits || answers > MOST_ANSWERS) stop(session);
  else session.disconnect();
}

/** Asks the main thread, at whatever it runs, whether that is code of users. There it waits where it is. A later question replaces this one. */
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
