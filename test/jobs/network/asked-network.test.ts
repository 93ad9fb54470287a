import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NetworkOptions, NetworkSecret } from '../../../src/contracts/network/network-options.ts';
import type { NetworkRule } from '../../../src/contracts/network/network-rule.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { programFolder } from '../../fixtures/program-folder.ts';

const VALUE = 'sk-0123456789abcdef';
const secret = (source: object): NetworkSecret => ({ ...source, hosts: ['api.test'] }) as NetworkSecret;

const open = (network?: unknown): ReturnType<typeof createOrchestrator> =>
  createOrchestrator({
    runners: [createLocalRunner()],
    ...(network === undefined ? {} : { network: network as NetworkOptions }),
  });

describe('the option network of an orchestrator', () => {
  it.each<[string, unknown, string, string]>([
    ['no rules', {}, 'options.invalid', 'network.allow is missing: it must be a list'],
    ['an unknown field', { allow: [], hosts: [] }, 'options.invalid', 'there is no field network.hosts'],
    ['a wrong rule', { allow: ['*.test'] }, 'network.rule-invalid', 'got "*.test"'],
    ['a rule without a host', { allow: [{ port: 1 }] }, 'options.invalid', 'network.allow.0'],
    [
      'a rule with an unknown field',
      { allow: [{ host: 'a.test', path: '/' }] },
      'network.rule-invalid',
      'no field path',
    ],
    ['the host of a sandbox itself', { allow: ['http://localhost:8080'] }, 'network.rule-invalid', 'its own sandbox'],
    ['a name below it', { allow: ['*.dev.localhost'] }, 'network.rule-invalid', 'its own sandbox'],
    [
      'a proxy of another scheme',
      { allow: [], upstreamProxy: 'socks://a' },
      'options.invalid',
      'a URL of http or https',
    ],
    ['a missing file', { allow: [], caFile: '/none/ca.pem' }, 'options.invalid', 'network.caFile cannot be used'],
    ['a name of a secret', { allow: [], secrets: { 'a-b': secret({ value: VALUE }) } }, 'options.invalid', 'a-b'],
    [
      'a secret of two sources',
      { allow: [], secrets: { T: secret({ value: VALUE, env: 'T' }) } },
      'options.invalid',
      'T',
    ],
    [
      'a secret without hosts',
      { allow: [], secrets: { T: { value: VALUE, hosts: [] } } },
      'options.invalid',
      'T.hosts',
    ],
    [
      'a secret with a wrong host',
      { allow: [], secrets: { T: { value: VALUE, hosts: ['a b'] } } },
      'network.rule-invalid',
      'got "a b"',
    ],
    [
      'a header that frames the request',
      { allow: [], secrets: { T: { value: VALUE, hosts: ['a.test'], header: 'Host' } } },
      'options.invalid',
      'must not be a header that frames the request',
    ],
  ])('is refused with %s', (_what, network, code, message) => {
    expect(() => open(network)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });
});

describe('a job with a network', () => {
  const folder = programFolder();
  let orchestrator: ReturnType<typeof createOrchestrator>;
  beforeAll(() => {
    orchestrator = open({
      allow: ['GET *.example.test/v1/**', 'build.test:8443', 'http://plain.test'],
      secrets: {
        none: secret({ env: 'SKILLCELL_TEST_NOT_SET' }),
        empty: secret({ value: '' }),
        short: secret({ value: 'short' }),
        control: secret({ value: `${VALUE}\n` }),
        long: secret({ value: 'x'.repeat(16 * 1024 + 1) }),
        number: secret({ get: () => 12_345_678 }),
        throwing: secret({ get: () => Promise.reject(new Error(VALUE)) }),
        missing: secret({ file: '/none/token' }),
      },
    });
  });
  afterAll(() => orchestrator.close());

  it.each<[NetworkRule | string, string, string]>([
    ['exa mple', 'network.rule-invalid', 'Cannot use the network rule'],
    [{ host: 'a.example.test', methods: ['get'] }, 'network.rule-invalid', 'capitals'],
    ['other.test', 'network.not-allowed', 'https://other.test is not in network.allow'],
    ['example.test', 'network.not-allowed', 'https://example.test is not in network.allow'],
    ['*.test.test', 'network.not-allowed', 'https://*.test.test is not in network.allow'],
    ['build.test', 'network.not-allowed', 'https://build.test is not in network.allow'],
    ['plain.test', 'network.not-allowed', 'https://plain.test is not in network.allow'],
    ['http://a.example.test', 'network.not-allowed', 'http://a.example.test is not in network.allow'],
  ])('is refused for the rule %j', async (rule, code, message) => {
    const job = orchestrator.exec({ code: '1', network: [rule] });
    await expect(job).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('is refused for a secret that is not there, and at level none', async () => {
    const network = ['a.example.test'];
    await expect(orchestrator.exec({ code: '1', network, secrets: ['other'] })).rejects.toMatchObject({
      code: 'secret.unknown',
      message: 'Cannot accept the job: the orchestrator has no such secret, got "other".',
    });
    await expect(orchestrator.exec({ code: '1', network, isolation: 'none' })).rejects.toMatchObject({
      code: 'runner.isolation-unmet',
    });
    await expect(orchestrator.session({ network, isolation: 'none' })).rejects.toMatchObject({
      code: 'runner.isolation-unmet',
    });
  });

  it.each<[string, string]>([
    ['none', 'its value is missing or empty'],
    ['empty', 'its value is missing or empty'],
    ['short', 'fewer than 8 bytes'],
    ['control', 'a control character'],
    ['long', 'more than 16384 bytes'],
    ['number', 'its value is missing or empty'],
    ['throwing', 'its value cannot be read'],
    ['missing', 'its value cannot be read'],
  ])('is refused for the secret %s, and no message has the value', async (name, reason) => {
    const job = orchestrator.exec({ code: '1', network: ['a.example.test'], secrets: [name] });
    const error = await job.then(String, (thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'secret.unavailable', message: expect.stringContaining(reason) });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(VALUE);
  });

  it('has no network without an option of the orchestrator, and none without rules', async (context) => {
    requireLevel(context, 'namespace');
    await using without = open();
    await expect(without.exec({ code: '1', network: ['a.test'] })).rejects.toMatchObject({
      code: 'network.not-allowed',
    });
    const token = join(folder.path, 'token');
    writeFileSync(token, `${VALUE}\n`);
    const code = 'export default [process.env.T ?? null, process.env.HTTPS_PROXY ?? null]';
    await using orchestrator = open({ allow: ['a.test'], secrets: { T: secret({ file: token }) } });
    const plain = await orchestrator.exec({ code, secrets: ['T'] });
    expect([plain.value, plain.network]).toEqual([[null, null], undefined]);
    const { value, network } = await orchestrator.exec({ code, network: ['a.test'], secrets: ['T'] });
    expect(value).toEqual([expect.not.stringContaining(VALUE), expect.stringContaining('http://127.0.0.1:')]);
    expect(network).toEqual({ requests: 0, bytesIn: 0, bytesOut: 0, secrets: [], denied: [], deniedMore: 0 });
  });
});
