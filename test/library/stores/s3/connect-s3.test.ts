import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { configuredService } from '../../../../src/library/stores/s3/connect-s3.ts';

let metadata: Server;
let asked: string[] = [];

/** Stands in for the metadata service of Amazon's machines. */
beforeAll(async () => {
  metadata = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end(request.method === 'PUT' ? 'token' : 'eu-west-3');
  });
  metadata.listen(0, '127.0.0.1');
  await once(metadata, 'listening');
});
afterAll(() => metadata.close());

afterEach(() => {
  vi.unstubAllEnvs();
  asked = [];
});

function configure(env: Record<string, string>): void {
  const { port } = metadata.address() as AddressInfo;
  const none = { AWS_REGION: undefined, AWS_PROFILE: undefined, AWS_EC2_METADATA_DISABLED: undefined };
  const files = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  const service = { AWS_ENDPOINT_URL: undefined, AWS_ENDPOINT_URL_S3: undefined };
  const given = { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${port}` };
  for (const [name, value] of Object.entries({ ...none, ...files, ...service, ...given, ...env }))
    vi.stubEnv(name, value);
}

it('asks the metadata service for the region of a bucket at Amazon', async () => {
  configure({});
  expect(await configuredService()).toEqual({ endpoint: undefined, region: 'eu-west-3' });
  expect(asked).toEqual(['PUT /latest/api/token', expect.stringMatching(/^GET /)]);
});

it('sends no request for the region of another service', async () => {
  configure({ AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' });
  expect(await configuredService()).toEqual({ endpoint: 'http://127.0.0.1:9', region: 'us-east-1' });
  expect(asked).toEqual([]);
});

it.each([{}, { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' }])(
  'sends no request where the region is configured (%j)',
  async (env) => {
    configure({ ...env, AWS_REGION: 'ca-central-1' });
    expect(await configuredService()).toMatchObject({ region: 'ca-central-1' });
    expect(asked).toEqual([]);
  },
);
