import type { ResultNetwork } from './result-network.ts';

/** Most kinds of denied requests that are listed. */
const MOST = 20;

/** Denied requests for people and models, a line a kind: `denied 3 × GET https://nope.test/ (host-not-allowed)`. The last line counts the rest. */
export function deniedLines({ denied, deniedMore }: Pick<ResultNetwork, 'denied' | 'deniedMore'>): string[] {
  const lines = denied.slice(0, MOST).map(({ reason, scheme, host, port, method, path = '', count }) => {
    const shownPort = port === (scheme === 'https' ? 443 : 80) ? '' : `:${port}`;
    const target = `${scheme}://${host.includes(':') ? `[${host}]` : host}${shownPort}${path}`;
    return `denied ${count} × ${method === undefined ? '' : `${method} `}${target} (${reason})`;
  });
  const more = denied.slice(MOST).reduce((sum, { count }) => sum + count, deniedMore);
  return more === 0 ? lines : [...lines, `denied ${more} × other requests`];
}
