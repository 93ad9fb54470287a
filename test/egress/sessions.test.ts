import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NetworkRow } from '../../src/contracts/network/result-network.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { NETWORK_LEVELS, networkRunners, requireNetworkLevel } from '../fixtures/egress/network-levels.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';

let upstream: Upstream;
let orchestrator: Orchestrator;
const rows: NetworkRow[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  orchestrator = createOrchestrator({
    runners: await networkRunners(),
    network: { ...upstream.network([`api.test:${upstream.port}`]), audit: (row) => void rows.push(row) },
  });
}, 300_000);
afterAll(async () => {
  await orchestrator?.close();
  await upstream?.[Symbol.asyncDispose]();
});

/** A request in each language of sessions. */
const REQUESTS: readonly (readonly ['javascript' | 'python' | 'bash', (url: string) => string])[] = [
  ['javascript', (url) => `console.log(await (await fetch('${url}')).text())`],
  ['python', (url) => `import urllib.request\nprint(urllib.request.urlopen('${url}').read().decode())`],
  ['bash', (url) => `python3 -c "import urllib.request; print(urllib.request.urlopen('${url}').read().decode())"`],
];

describe.each(NETWORK_LEVELS)('at level %s', (isolation) => {
  test.for(REQUESTS)('runs in %s reach the network, each with its own count', async ([language, request], context) => {
    requireNetworkLevel(context, isolation);
    await using session = await orchestrator.session({ isolation, language, network: [`api.test:${upstream.port}`] });
    const at = `https://api.test:${upstream.port}`;
    const first = await session.run(request(`${at}/first`));
    const second = await session.run(`${request(`${at}/second`)}\n${request(`${at}/third`)}`);
    const third = await session.run(language === 'bash' ? 'true' : '1');
    expect([first.stdout.text, second.stdout.text.replaceAll(/\n+/g, '\n')]).toEqual([
      expect.stringContaining('GET /first'),
      expect.stringMatching(/GET \/second.*\n.*GET \/third/),
    ]);
    expect([first, second, third].map(({ network }) => network?.requests)).toEqual([1, 2, 0]);
    const { network } = await session.close();
    expect(network).toMatchObject({ requests: 3, denied: [] });
    expect(rows.filter(({ jobId }) => jobId === session.id).map(({ path }) => path)).toEqual([
      '/first',
      '/second',
      '/third',
    ]);
  });

  test('a job that is canceled ends its connections, and no request outlives it', async (context) => {
    requireNetworkLevel(context, isolation);
    await using slow = await startUpstream({ answer: (_request, response) => void response.write('begun') });
    await using own = createOrchestrator({
      runners: await networkRunners(),
      network: slow.network([`api.test:${slow.port}`]),
    });
    const code = `const asks = Array.from({ length: 32 }, () => fetch('https://api.test:${slow.port}/'));
await Promise.all(asks); console.log('all'); await new Promise((resolve) => setTimeout(resolve, 60_000));`;
    const job = own.stream({ kind: 'exec', code, isolation, network: [`api.test:${slow.port}`] });
    for await (const event of job) if (event.type === 'output') own.cancel(job.jobId, 'enough');
    const result = await job.result;
    expect(result.outcome).toBe('canceled');
    expect(slow.requests).toHaveLength(32);
    expect(result.network).toMatchObject({ requests: 32 });
  });
});
