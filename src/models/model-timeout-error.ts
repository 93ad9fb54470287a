/** A model request that went over its deadline. The job that made it ends with the outcome `timeout`. */
export class ModelTimeoutError extends Error {
  override readonly name = 'ModelTimeout';

  constructor(timeoutMs: number) {
    super(`The model did not answer within ${timeoutMs} ms.`);
  }
}
