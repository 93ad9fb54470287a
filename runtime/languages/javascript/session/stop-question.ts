/**
 * The memory that the two threads of an interpreter share, as positions in an array. Before one thread stops the other, it asks whether that would
 * stop user code: other code, such as the reader of messages, must not be stopped half way.
 */
export const SHARED = {
  /** Number of interrupts that the main thread has noticed. */
  heard: 0,
  /** The number of the open question. */
  asked: 1,
  /** One of {@link ANSWER}. */
  answer: 2,
  size: 3,
} as const;

/** States of a question. */
export const ANSWER = {
  none: 0,
  /** User code is running: the main thread waits in it until the stop is on its way. */
  stop: 1,
  /** Other code is running, and user code may come next. */
  goOn: 2,
  /** No code is running. */
  idle: 3,
  /** The thread has taken the answer `stop`, and is about to stop the main thread. */
  claimed: 4,
  /** The stop is on its way. */
  stopping: 5,
  /** The thread did not take the answer `stop` in time: user code continues. */
  expired: 6,
} as const;

/** The global symbol under which the main thread answers. */
export const QUESTION = 'skillcell.stops';
