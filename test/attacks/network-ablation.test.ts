import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DENIAL_REASONS } from '../../src/contracts/network/denial-reasons.ts';
import type { NetworkGate } from '../../src/egress/rules/network-gate.ts';
import { type NetworkUpstreams, startNetworkUpstreams } from '../fixtures/egress/network-upstreams.ts';
import { NETWORK_CASES } from './network-cases.ts';

/** All gates. A type error shows a missing one. */
const GATES: Record<NetworkGate, true> = {
  ...(Object.fromEntries(Object.keys(DENIAL_REASONS).map((reason) => [reason, true])) as Record<
    keyof typeof DENIAL_REASONS,
    true
  >),
  resolved: true,
  pinned: true,
  connected: true,
  certificate: true,
  headers: true,
  operator: true,
  'strict-http': true,
  pipeline: true,
  interim: true,
  'secret-hosts': true,
  'secret-header': true,
  'secret-tls': true,
  wash: true,
};
/** Gates without a case of their own. */
const ELSEWHERE: Partial<Record<NetworkGate, string>> = {
  'address-blocked': 'resolved, pinned and connected are its parts',
  'package-not-allowed': 'test/egress/packages/judge-package-request.test.ts denies such requests',
  'signature-unsupported': 'test/egress/signed-requests.test.ts denies such requests',
};

let upstreams: NetworkUpstreams;
beforeAll(async () => {
  upstreams = await startNetworkUpstreams();
});
afterAll(() => upstreams[Symbol.asyncDispose]());

describe('an attack on the network gets through without its gate', () => {
  const rows = NETWORK_CASES.filter(({ gates }) => gates.length > 0);
  it.each(rows.map((row) => [`without ${row.gates.join(' and ')}: ${row.id} ${row.title}`, row] as const))(
    '%s',
    async (_, row) => {
      const seen = await row.attempt(await upstreams.sceneOf(row, row.gates));
      if (typeof row.open === 'string') expect(seen).toBe(row.open);
      else expect(seen).toMatch(row.open);
    },
  );
});

it('every gate of the network has an attack that needs it', () => {
  const opened = new Set([...NETWORK_CASES.flatMap(({ gates }) => gates), ...Object.keys(ELSEWHERE)]);
  expect([...opened].toSorted()).toEqual(Object.keys(GATES).toSorted());
});
