import { expect, test } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL, requireLevel } from '../fixtures/levels.ts';
import { startForwardProxy } from '../fixtures/egress/forward-proxy.ts';
import { startUpstream } from '../fixtures/egress/upstream.ts';

const SECRET = 'sk-live-0123456789abcdef';

test.for(['http', 'https'])(
  'all connections go through a proxy of %s, under the same rules',
  async (scheme, context) => {
    requireLevel(context, 'namespace');
    await using upstream = await startUpstream({
      answer: (request, response) => void response.end(`got ${request.headers.authorization}`),
    });
    await using proxy = await startForwardProxy(
      upstream,
      scheme === 'https' ? await upstream.contextFor('localhost') : undefined,
    );
    await using orchestrator = createOrchestrator({
      network: {
        allow: ['api.test', 'GET other.test/v1/**'],
        caFile: upstream.caFile,
        upstreamProxy: proxy.url,
        secrets: { TOKEN: { value: SECRET, hosts: ['api.test'] } },
      },
    });
    const code = `const headers = { authorization: 'Bearer ' + process.env.TOKEN };
for (const url of ['https://api.test/', 'https://other.test/v1/a', 'https://other.test/v2', 'https://closed.test/'])
  console.log((await (await fetch(url, { headers })).text()).slice(0, 60));`;
    const result = await orchestrator.exec({
      ...{ code, isolation: BEST_LEVEL, network: ['api.test', 'other.test'], secrets: ['TOKEN'] },
    });
    expect(result.stdout.text.split('\n')).toEqual([
      expect.stringMatching(/^got Bearer sk-/),
      expect.stringMatching(/^got Bearer sk-/),
      expect.stringContaining('path-not-allowed'),
      expect.stringContaining('host-not-allowed'),
      '',
    ]);
    expect(proxy.targets).toEqual(['api.test:443', 'other.test:443']);
    expect(upstream.requests.map(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toEqual([true, false]);
    expect(JSON.stringify(result)).not.toContain(SECRET);
  },
);
