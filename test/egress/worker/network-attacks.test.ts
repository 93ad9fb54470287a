import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORK_CASES } from '../../attacks/network-cases.ts';
import { type NetworkUpstreams, startNetworkUpstreams } from '../../fixtures/egress/network-upstreams.ts';

let upstreams: NetworkUpstreams;
beforeAll(async () => {
  upstreams = await startNetworkUpstreams();
});
afterAll(() => upstreams[Symbol.asyncDispose]());

describe('the network of a job does not let through', () => {
  it.each(NETWORK_CASES.map((row) => [`${row.id} ${row.title}`, row] as const))('%s', async (_, row) => {
    const seen = await row.attempt(await upstreams.sceneOf(row));
    if (typeof row.blocked === 'string') expect(seen).toBe(row.blocked);
    else expect(seen).toMatch(row.blocked);
  });
});
