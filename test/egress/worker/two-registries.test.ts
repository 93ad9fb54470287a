import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { expect, test } from 'vitest';
import type { RegistryPlace } from '../../../src/egress/packages/package-registry.ts';
import { makePlaceholder } from '../../../src/egress/secrets/make-placeholder.ts';
import { startEgress } from '../../../src/egress/start-egress.ts';
import { EgressAgent } from '../../fixtures/egress/egress-agent.ts';
import { startUpstream, type Upstream } from '../../fixtures/egress/upstream.ts';

const TOKENS = ['npm_first0123456789', 'npm_second0123456789'] as const;

/** A registry with its own authority that repeats the token it gets. */
const registry = (): Promise<Upstream> =>
  startUpstream({ answer: (request, response) => void response.end(`got ${request.headers.authorization}`) });

function placeOf(upstream: Upstream, host: string, token: string, more: Partial<RegistryPlace>): RegistryPlace {
  const washed = [{ name: 'registry:npm', value: token, placeholder: makePlaceholder(token), header: 'authorization' }];
  return {
    ...{ scheme: 'https', host, port: upstream.port, path: '/', scopes: [], isDefault: false },
    credentials: { authorization: `Bearer ${token}`, washed },
    ca: readFileSync(upstream.caFile, 'utf8'),
    ...more,
  };
}

test('two registries of a job have their own certificates, and the token of each is washed', async () => {
  await using first = await registry();
  await using second = await registry();
  const egress = startEgress({
    ...{ allow: [], allowPrivate: ['127.0.0.1/32'], ca: undefined, upstreamProxy: undefined },
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const places = [
    placeOf(first, 'first.test', TOKENS[0], { isDefault: true }),
    placeOf(second, 'second.test', TOKENS[1], { scopes: ['@acme'] }),
  ];
  const job = await egress.open(
    {
      ...{ jobId: 'job', rules: [], secrets: [], awsKeys: [] },
      registries: [{ kind: 'npm', names: ['is-odd', '@acme/*'], places }],
      limits: { connections: 32, requests: 9, bytesIn: 1e6, bytesOut: 1e6 },
    },
    { onRow: () => undefined, onFault: () => undefined },
  );
  const agent = new EgressAgent(job);
  const ask = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      get(url, { agent }, (answer) => {
        answer.toArray().then((chunks) => resolve(`${answer.statusCode} ${chunks.join('')}`), reject);
      }).on('error', reject);
    });
  const said = [
    await ask(`https://first.test:${first.port}/is-odd`),
    await ask(`https://second.test:${second.port}/@acme%2ftool`),
  ];
  expect(said).toEqual([expect.stringMatching(/^200 got Bearer npm_/), expect.stringMatching(/^200 got Bearer npm_/)]);
  expect([first, second].map(({ requests }) => requests.at(-1)?.headers.authorization)).toEqual(
    TOKENS.map((token) => `Bearer ${token}`),
  );
  for (const token of TOKENS) expect(said.join()).not.toContain(token);
  agent.destroy();
  await job.close();
  await egress.close();
});

test('a setting that the worker cannot use refuses the job, instead of keeping it waiting', async () => {
  const egress = startEgress({
    ...{ allow: [], allowPrivate: ['not a host'], ca: undefined, upstreamProxy: undefined, lookup: undefined },
  });
  const opened = egress.open(
    {
      ...{ jobId: 'job', rules: [], secrets: [], awsKeys: [], registries: [] },
      limits: { connections: 32, requests: 9, bytesIn: 1e6, bytesOut: 1e6 },
    },
    { onRow: () => undefined, onFault: () => undefined },
  );
  await expect(opened).rejects.toMatchObject({
    code: 'options.invalid',
    message: expect.stringContaining('got "not a host"') as string,
  });
  await egress.close();
});
