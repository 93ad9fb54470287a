import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AwsKeys, NetworkSecret } from '../../../src/contracts/network/network-options.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { checkJobNetwork } from '../../../src/jobs/network/job-network.ts';
import { networkSettings } from '../../../src/jobs/network/network-settings.ts';
import { type JobSecrets, secretValues } from '../../../src/jobs/network/secret-values.ts';

const KEYS: AwsKeys = {
  accessKeyId: 'AKIAREALREALREALREAL',
  secretAccessKey: 'real+secret/key0real+secret/key0real+sec',
};
const TOKEN = 'FwoGZXIvYXdzEOb//////////wEaDNb+a/real/token==';
const hosts = ['s3.example.com'];

async function valuesOf(secrets: Record<string, NetworkSecret>): Promise<JobSecrets> {
  return await secretValues(networkSettings({ allow: hosts, secrets }).secrets);
}

test('a program gets placeholders in the form of keys', async () => {
  const { variables, awsKeys, secrets } = await valuesOf({ S3: { aws: KEYS, hosts } });
  expect(secrets).toEqual([]);
  expect(Object.keys(variables)).toEqual(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']);
  expect(variables['AWS_ACCESS_KEY_ID']).toMatch(/^AKIA[A-Z2-7]{16}$/);
  expect(variables['AWS_SECRET_ACCESS_KEY']).toMatch(/^[A-Za-z0-9]{40}$/);
  expect(awsKeys).toMatchObject([{ name: 'S3', accessKeyId: { value: KEYS.accessKeyId } }]);
  expect(awsKeys[0]).not.toHaveProperty('sessionToken');
});

test('a token has a variable of its own', async () => {
  const { variables } = await valuesOf({ S3: { aws: { ...KEYS, sessionToken: TOKEN }, hosts } });
  expect(variables['AWS_SESSION_TOKEN']).toMatch(/^\w{46}$/);
  expect(variables['AWS_SESSION_TOKEN']).not.toBe(TOKEN);
});

test('each part comes from the same sources as other secrets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aws-'));
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`);
  const aws = {
    accessKeyId: { get: async () => 'AKIAREALREALREALREAL' },
    secretAccessKey: { env: 'SECRET_OF_THIS_TEST' },
    sessionToken: { file: join(folder, 'token') },
  };
  process.env['SECRET_OF_THIS_TEST'] = 'secret-of-this-test';
  try {
    const [keys] = (await valuesOf({ S3: { aws, hosts } })).awsKeys;
    const { accessKeyId, secretAccessKey, sessionToken } = keys ?? {};
    const values = [accessKeyId?.value, secretAccessKey?.value, sessionToken?.value];
    expect(values).toEqual([KEYS.accessKeyId, 'secret-of-this-test', TOKEN]);
  } finally {
    delete process.env['SECRET_OF_THIS_TEST'];
    rmSync(folder, { recursive: true });
  }
});

describe('keys that cannot be used', () => {
  test.each<[string, Partial<AwsKeys>]>([
    ['its accessKeyId has a character that none has', { accessKeyId: 'AKIA/EXAMPLE' }],
    ['its accessKeyId has a character that none has', { accessKeyId: 'AKIA,EXAMPLE' }],
    ['its accessKeyId has a character that none has', { accessKeyId: 'AKIA EXAMPLE' }],
    ['its accessKeyId has fewer than 8 bytes', { accessKeyId: 'AKIA' }],
    ['its secretAccessKey is missing or empty', { secretAccessKey: { env: 'NO_SUCH_VARIABLE' } }],
    ['its secretAccessKey cannot be read', { secretAccessKey: { file: '/no/such/file' } }],
    ['its sessionToken has a character that none has', { sessionToken: 'token of é' }],
  ])('%s', async (reason, part) => {
    await expect(valuesOf({ S3: { aws: { ...KEYS, ...part }, hosts } })).rejects.toMatchObject({
      code: 'secret.unavailable',
      message: `Cannot use the secret "S3": ${reason}.`,
    });
  });
});

test.each<[string, object]>([
  ['a missing part', { aws: { accessKeyId: KEYS.accessKeyId }, hosts }],
  ['an unknown part', { aws: { ...KEYS, region: 'us-east-1' }, hosts }],
  ['a variable', { aws: KEYS, hosts, variable: 'KEYS' }],
  ['a header', { aws: KEYS, hosts, header: 'authorization' }],
  ['a value besides', { aws: KEYS, hosts, value: 'a-value-besides' }],
  ['no hosts', { aws: KEYS, hosts: [] }],
])('an orchestrator refuses keys with %s', (_name, secret) => {
  const create = (): unknown =>
    createOrchestrator({ network: { allow: hosts, secrets: { S3: secret as NetworkSecret } } });
  expect(create).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('two secrets of a job do not share a variable', () => {
  const secrets: Record<string, NetworkSecret> = {
    ONE: { aws: KEYS, hosts },
    TWO: { aws: KEYS, hosts },
    TOKEN: { value: 'a-token-of-8-bytes', hosts, variable: 'AWS_SESSION_TOKEN' },
    OTHER: { value: 'a-token-of-8-bytes', hosts },
  };
  const settings = networkSettings({ allow: hosts, secrets });
  const check =
    (...names: string[]) =>
    (): unknown =>
      checkJobNetwork({ network: hosts, secrets: names }, settings);
  const refused = expect.objectContaining({ code: 'job.invalid' });
  expect(check('ONE', 'TWO')).toThrow(refused);
  expect(check('ONE', 'TOKEN')).toThrow(refused);
  expect(check('ONE', 'OTHER')).not.toThrow();
  expect(check('TOKEN', 'OTHER')).not.toThrow();
});
