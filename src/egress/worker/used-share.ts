/** Requests and bytes that a job has used of its share. The host's thread holds the memory too, so the numbers outlive the worker. */
export class UsedShare {
  readonly #numbers: Float64Array;

  /** @param memory of `SHARE_BYTES` bytes, with zeros for a new job */
  constructor(memory: SharedArrayBuffer) {
    this.#numbers = new Float64Array(memory);
  }

  /** Requests that were passed on. */
  get requests(): number {
    return this.#numbers[0] ?? 0;
  }

  set requests(count: number) {
    this.#numbers[0] = count;
  }

  /** Bytes of the bodies of answers. */
  get bytesIn(): number {
    return this.#numbers[1] ?? 0;
  }

  set bytesIn(bytes: number) {
    this.#numbers[1] = bytes;
  }

  /** Bytes of the bodies of requests. */
  get bytesOut(): number {
    return this.#numbers[2] ?? 0;
  }

  set bytesOut(bytes: number) {
    this.#numbers[2] = bytes;
  }
}
