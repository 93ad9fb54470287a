/** A model request that exceeded its deadline. Its job ends with the outcome `timeout`. */
export class ModelTimeoutError extends Error {
  override readonly name = 'ModelTimeout';

  constructor(timeoutMs: number) {
    super(`The model did not answer within ${timeoutMs} ms.`);
  }
}
