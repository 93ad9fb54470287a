/** A set-up that cannot continue, with the reason and a hint. */
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
