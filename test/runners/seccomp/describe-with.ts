import { describe, test } from 'vitest';

/**
 * Describes tests that need something of the machine. Where it is missing they are skipped with the reason as their note;
 * in CI that is a failure, so that nothing goes untested unseen.
 */
export function describeWith(title: string, missing: string | undefined, body: () => void): void {
  if (missing === undefined) {
    describe(title, body);
  } else if (process.env['CI'] === 'true') {
    test(title, () => {
      throw new Error(`this machine lacks what the tests need: ${missing}`);
    });
  } else {
    test(title, ({ skip }) => skip(`this machine lacks ${missing}`));
  }
}
