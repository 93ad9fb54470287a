/** A signal that is made when somebody asks for it: most calls are over before anybody does. */
export interface LateSignal {
  readonly signal: AbortSignal;
  readonly aborted: boolean;
  /** The first reason counts. */
  abort(reason: Error): void;
}

/** Creates one that is not aborted. */
export function createLateSignal(): LateSignal {
  let controller: AbortController | undefined;
  let over: Error | undefined;
  return {
    get signal() {
      controller ??= new AbortController();
      if (over !== undefined) controller.abort(over);
      return controller.signal;
    },
    get aborted() {
      return over !== undefined;
    },
    abort(reason) {
      over ??= reason;
      controller?.abort(over);
    },
  };
}
