/**
 * What the two threads of an interpreter share, by its place in an array. Before the one stops the other, it asks whether that would stop code
 * of users: anything else, such as what reads messages, must not be stopped half way.
 */
export const SHARED = {
  /** How many interrupts the main thread has heard of. */
  heard: 0,
  /** The number of the question that is open. */
  asked: 1,
  /** One of {@link ANSWER}. */
  answer: 2,
  size: 3,
} as const;

/** How a question stands. */
export const ANSWER = {
  none: 0,
  /** It is code of users that runs: the main thread waits at it until the stop is on its way. */
  stop: 1,
  /** It is something else, and code of users may come next. */
  goOn: 2,
  /** It is nothing. */
  idle: 3,
  /** The thread has taken the answer `stop`, and is about to stop the main thread. */
  claimed: 4,
  /** The stop is on its way. */
  stopping: 5,
  /** The thread did not take the answer `stop` in time: code of users goes on. */
  expired: 6,
} as const;

/** The global symbol under which the main thread answers. */
export const QUESTION = 'skillcell.stops';
