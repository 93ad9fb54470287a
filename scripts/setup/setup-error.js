/** A set-up that cannot go on: what is wrong, and what to do about it. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} hint
   * @param {{ cause?: unknown }} [options]
   */
  constructor(message, hint, options) {
    super(message, options);
    this.name = 'SetupError';
    this.hint = hint;
  }
}
