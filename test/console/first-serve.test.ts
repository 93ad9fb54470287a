import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CheckoutCopy, copyCheckout } from '../fixtures/checkout-copy.ts';
import { tryConsoleAt } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BUILDS = 'building the console';

describeWith('the console of a checkout', MISSING_CHROMIUM, () => {
  let copy: CheckoutCopy;
  beforeAll(() => {
    copy = copyCheckout({ web: join(root, 'web'), 'tsconfig.json': join(root, 'tsconfig.json') });
  });
  afterAll(() => copy[Symbol.dispose]());

  /** Serves, looks at the service, and ends it. Returns the lines for people. */
  async function serve(look: (url: string, token: string) => Promise<void>): Promise<string> {
    const flags = ['--port', '0', '--state', 'state', '--runner', 'local', '--isolation', 'none', '--json'];
    const child = copy.start(['serve', ...flags]);
    let said = '';
    child.stderr?.on('data', (text: string) => (said += text));
    const ended = once(child, 'exit');
    try {
      const [line] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), ended]);
      const { url } = JSON.parse(String(line)) as { url: string };
      await look(url, readFileSync(join(copy.folder, 'state/admin-token'), 'utf8').trim());
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
    return said;
  }

  it('is built at the first serve, and works in a browser; the second serve takes that build', async () => {
    const first = await serve(async (url, token) => {
      expect(await tryConsoleAt(url, token)).toEqual([]);
    });
    expect(first).toContain(BUILDS);
    const second = await serve(async (url) => {
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/assets/index-')]);
    });
    expect(second).not.toContain(BUILDS);
  });
});
