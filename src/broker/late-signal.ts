/** A signal that is made when somebody asks for it: most calls are over before anybody does. */
export class LateSignal {
  #controller: AbortController | undefined;
  #over: Error | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over !== undefined) this.#controller.abort(this.#over);
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#over !== undefined;
  }

  /** The first reason counts. */
  abort(reason: Error): void {
    this.#over ??= reason;
    this.#controller?.abort(this.#over);
  }
}
