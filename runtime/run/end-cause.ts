import type { CancelReason } from '../../src/protocol/messages/messages.ts';

/** The cause of the end of a run: `itself` if the code ended by itself, else the reason of the supervisor. */
export type EndCause = 'itself' | 'run-deadline' | CancelReason | 'output' | 'memory' | 'workspace' | 'inodes';

/** Takes the causes of the end of one run. The first cause counts. */
export interface FirstCause {
  resolve(cause: EndCause): void;
  /** The first cause, once there is one. */
  readonly known: EndCause | undefined;
  readonly promise: Promise<EndCause>;
}

/** Creates a cause that nothing has named yet. */
export function createFirstCause(): FirstCause {
  const { promise, resolve } = Promise.withResolvers<EndCause>();
  let known: EndCause | undefined;
  return {
    resolve(cause) {
      known ??= cause;
      resolve(cause);
    },
    get known() {
      return known;
    },
    promise,
  };
}
