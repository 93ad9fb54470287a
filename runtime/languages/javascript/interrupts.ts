/** A thread of the interpreter: stops what the main thread runs when the supervisor asks, and the main thread does not hear. */
import inspector from 'node:inspector';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { interruptChildren } from './interrupt-children.ts';

const { pipe, count } = workerData as { pipe: string; count: Int32Array };
/** What the main thread has to hear a request, and what a stop may take before it is tried again. */
const HEAR_MS = 60;
const MOST_STOPS = 20;
/** Stops after which it is no code that the main thread runs: it waits for a program that it has started. */
const CODE_STOPS = 3;

const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
const requests = new Socket({ fd, readable: true, writable: false });
let received = 0;
requests.on('data', (chunk: Buffer) => {
  received += chunk.length;
  const wanted = received;
  let stops = 0;
  const timer = setInterval(() => {
    // The main thread counts those that it has heard of, which may be before this thread has.
    if (Atomics.load(count, 0) >= wanted || (stops += 1) > MOST_STOPS) return clearInterval(timer);
    if (stops === CODE_STOPS) interruptChildren();
    terminate();
  }, HEAR_MS);
});
requests.on('error', () => closeSync(fd));
parentPort?.postMessage('ready', []);

/** Connects for this alone: Node says on stderr that it waits for a debugger where one is connected at the end. */
function terminate(): void {
  const session = new inspector.Session();
  session.connectToMainThread();
  session.post('Runtime.terminateExecution', () => session.disconnect());
}
