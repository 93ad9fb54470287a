import { closeSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { firstWords } from '../../../src/sandboxes/local/start-process.ts';

it('closes only descriptors that a child would inherit', () => {
  // Node opens it as close-on-exec.
  const descriptor = openSync('/dev/null', 'r');
  try {
    const [, closed = ''] = firstWords(['/bin/true'], { group: null, fileBytes: 1 }).toReversed();
    expect(closed.split(' ')).not.toContain(`${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
});
