import { expect, test } from 'vitest';
import { deniedLines } from '../../../src/contracts/network/denied-lines.ts';
import type { DeniedRequests } from '../../../src/contracts/network/result-network.ts';

const row = (more: Partial<DeniedRequests>): DeniedRequests => ({
  ...{ reason: 'host-not-allowed', scheme: 'https', host: 'a.test', port: 443, count: 1 },
  ...more,
});

test.each<[Partial<DeniedRequests>, string]>([
  [{}, 'denied 1 × https://a.test (host-not-allowed)'],
  [{ method: 'GET', path: '/b', count: 3 }, 'denied 3 × GET https://a.test/b (host-not-allowed)'],
  [{ scheme: 'http', port: 80, path: '/' }, 'denied 1 × http://a.test/ (host-not-allowed)'],
  [{ scheme: 'http', reason: 'quota' }, 'denied 1 × http://a.test:443 (quota)'],
  [{ host: '::1', port: 8443 }, 'denied 1 × https://[::1]:8443 (host-not-allowed)'],
])('a line has the request, its count and the reason: %j', (more, line) => {
  expect(deniedLines({ denied: [row(more)], deniedMore: 0 })).toEqual([line]);
});

test('the last line counts the kinds that are not listed', () => {
  const denied = Array.from({ length: 22 }, (_, index) => row({ host: `h${index}.test`, count: 2 }));
  const lines = deniedLines({ denied, deniedMore: 5 });
  expect([lines.length, lines.at(-1)]).toEqual([21, 'denied 9 × other requests']);
  expect(deniedLines({ denied: [], deniedMore: 0 })).toEqual([]);
});
