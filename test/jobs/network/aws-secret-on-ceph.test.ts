import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import type { Language } from '../../../src/contracts/jobs/language.ts';
import { type Ceph, MISSING_CEPH, startCeph } from '../../fixtures/ceph.ts';
import { describeWith, MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { type CephOverTls, startCephOverTls } from '../../fixtures/egress/ceph-over-tls.ts';
import { BEST_LEVEL, requireLevel } from '../../fixtures/levels.ts';
import { openRawBucket, type RawBucket } from '../../fixtures/raw-bucket.ts';

/** Each program signs by hand: it puts an object, reads it and prints the answer. */
const PROGRAMS: Partial<Record<Language, (origin: string) => string>> = {
  python: (origin) => `
import datetime, hashlib, hmac, os, urllib.request
def sign(key, text): return hmac.new(key, text.encode(), hashlib.sha256).digest()
def ask(method, path, body):
    host = '${origin}'.split('//')[1]
    now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y%m%dT%H%M%SZ')
    digest = hashlib.sha256(body).hexdigest()
    names = 'host;x-amz-content-sha256;x-amz-date'
    canonical = '\\n'.join([method, path, '', 'host:' + host, 'x-amz-content-sha256:' + digest, 'x-amz-date:' + now, '', names, digest])
    scope = now[:8] + '/us-east-1/s3/aws4_request'
    text = '\\n'.join(['AWS4-HMAC-SHA256', now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ('AWS4' + os.environ['AWS_SECRET_ACCESS_KEY']).encode()
    for part in scope.split('/'): key = sign(key, part)
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    credential = os.environ['AWS_ACCESS_KEY_ID'] + '/' + scope
    headers = {'x-amz-content-sha256': digest, 'x-amz-date': now,
      'Authorization': 'AWS4-HMAC-SHA256 Credential=' + credential + ', SignedHeaders=' + names + ', Signature=' + signature}
    return urllib.request.urlopen(urllib.request.Request('${origin}' + path, method=method, data=body or None, headers=headers)).read().decode()
ask('PUT', '/bucket/python/a%20key', b'from python')
print(ask('GET', '/bucket/python/a%20key', b''))
print(os.environ['AWS_ACCESS_KEY_ID'], os.environ['AWS_SECRET_ACCESS_KEY'], 'AWS_SESSION_TOKEN' in os.environ)
`,
  javascript: (origin) => `
import { createHash, createHmac } from 'node:crypto';
const sha = (text) => createHash('sha256').update(text).digest('hex');
const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;
async function ask(method, path, body) {
  const now = new Date().toISOString().replaceAll(/[-:]|\\.\\d+/g, '');
  const digest = sha(body);
  const names = 'host;x-amz-content-sha256;x-amz-date';
  const canonical = [method, path, '', 'host:${origin.slice(8)}', 'x-amz-content-sha256:' + digest, 'x-amz-date:' + now, '', names, digest];
  const scope = now.slice(0, 8) + '/us-east-1/s3/aws4_request';
  const text = ['AWS4-HMAC-SHA256', now, scope, sha(canonical.join('\\n'))].join('\\n');
  const key = scope.split('/').reduce((last, part) => createHmac('sha256', last).update(part).digest(), 'AWS4' + secret);
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = 'AWS4-HMAC-SHA256 Credential=' + id + '/' + scope + ', SignedHeaders=' + names + ', Signature=' + signature;
  const headers = { 'x-amz-content-sha256': digest, 'x-amz-date': now, authorization };
  const answer = await fetch('${origin}' + path, { method, headers, ...(body === '' ? {} : { body }) });
  return answer.ok ? await answer.text() : answer.status + ' ' + (await answer.text());
}
await ask('PUT', '/bucket/javascript/a%20key', 'from javascript');
console.log(await ask('GET', '/bucket/javascript/a%20key', ''));
console.log(id, secret, 'AWS_SESSION_TOKEN' in process.env);
`,
};

describeWith('a program that signs by hand', MISSING_CEPH, () => {
  let ceph: Ceph;
  let front: CephOverTls;
  let bucket: RawBucket;
  let orchestrator: Orchestrator;
  let origin: string;
  const events: string[] = [];
  const run = async (language: Language, secrets: string[]): Promise<JobResult> =>
    await orchestrator.exec({
      ...{ language, code: PROGRAMS[language]?.(origin) ?? '', isolation: BEST_LEVEL },
      ...{ network: [`s3.test:${front.upstream.port}`], secrets },
    });

  beforeAll(async () => {
    ceph = await startCeph();
    front = await startCephOverTls(ceph);
    bucket = openRawBucket(ceph.endpoint, ceph.owner.credentials, 'bucket');
    await bucket.create();
    const host = `s3.test:${front.upstream.port}`;
    origin = `https://${host}`;
    // Amazon's client adds fields to the object of its credentials.
    const { accessKeyId, secretAccessKey } = ceph.owner.credentials;
    const aws = { accessKeyId, secretAccessKey };
    const other = { accessKeyId: { value: accessKeyId }, secretAccessKey: { get: () => secretAccessKey } };
    orchestrator = createOrchestrator({
      network: {
        ...front.upstream.network([host]),
        secrets: { BUCKET: { aws, hosts: [host] }, OTHER: { aws: other, hosts: [host] } },
        audit: (row) => void events.push(JSON.stringify(row)),
      },
    });
  });
  afterAll(async () => {
    await orchestrator?.close();
    bucket?.close();
    await front?.[Symbol.asyncDispose]();
    await ceph?.[Symbol.asyncDispose]();
  });

  test.for(['python', 'javascript'] as const)('in %s puts and gets an object', async (language, context) => {
    requireLevel(context, 'namespace');
    requireHere(context, MISSING_PYTHON);
    const result = await run(language, ['BUCKET']);
    const [answer, seen = ''] = result.stdout.text.split('\n');
    expect([result.outcome, result.stderr.text, answer]).toEqual(['succeeded', '', `from ${language}`]);
    expect(seen).toMatch(/^AKIA[A-Z2-7]{16} \w{11} False$/i);
    expect(await bucket.get(`${language}/a key`)).toBe(`from ${language}`);
    expect(result.network).toMatchObject({ requests: 2, secrets: ['BUCKET'], denied: [] });
    const told = JSON.stringify([result, events]);
    for (const value of [ceph.owner.credentials.accessKeyId, ceph.owner.credentials.secretAccessKey])
      expect(told).not.toContain(value);
  });

  test('keys from other sources are the same', async (context) => {
    requireLevel(context, 'namespace');
    expect((await run('javascript', ['OTHER'])).stdout.text).toMatch(/^from javascript\n/);
  });

  test('two pairs of keys in one job are refused', async () => {
    await expect(run('javascript', ['BUCKET', 'OTHER'])).rejects.toMatchObject({
      code: 'job.invalid',
      message:
        'Cannot accept the job: two secrets set the variable AWS_ACCESS_KEY_ID, got "BUCKET" and "OTHER". Ask for one of them.',
    });
  });
});
