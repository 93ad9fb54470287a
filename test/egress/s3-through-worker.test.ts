import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ceph, MISSING_CEPH, startCeph } from '../fixtures/ceph.ts';
import { type CephOverTls, startCephOverTls } from '../fixtures/egress/ceph-over-tls.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { type AwsEgress, openAwsEgress } from '../fixtures/egress/open-aws-egress.ts';
import { openRawBucket } from '../fixtures/raw-bucket.ts';

const Bucket = 'bucket';
const KEYS = [
  'plain',
  'a folder/with space',
  'umläut €',
  'a+b=c&d',
  "odd(1)!*'~",

  'dots.../…',
  '100%',
];

describeWith('Amazon’s client with placeholders on Ceph', MISSING_CEPH, () => {
  let ceph: Ceph;
  let front: CephOverTls;
  let network: AwsEgress;
  let client: S3Client;
  const open = (options: object = {}): S3Client =>
    new S3Client({
      ...{
        region: 'eu-west-3',
        endpoint: `https://s3.test:${front.upstream.port}`,
        forcePathStyle: true,
        maxAttempts: 1,
      },
      credentials: network.placeholders,
      requestHandler: { httpsAgent: network.agent },
      ...options,
    });

  beforeAll(async () => {
    ceph = await startCeph();
    const bucket = openRawBucket(ceph.endpoint, ceph.owner.credentials, Bucket);
    await bucket.create();
    bucket.close();
    front = await startCephOverTls(ceph);
    const { upstream } = front;
    network = await openAwsEgress(upstream.network([`s3.test:${upstream.port}`]), ceph.owner.credentials);
    client = open();
  });
  afterAll(async () => {
    client?.destroy();
    await network?.[Symbol.asyncDispose]();
    await front?.[Symbol.asyncDispose]();
    await ceph?.[Symbol.asyncDispose]();
  });

  test('the gateway refuses the signature of the placeholder itself', async () => {
    const direct = new S3Client({
      ...{ region: 'eu-west-3', endpoint: ceph.endpoint, forcePathStyle: true, credentials: network.placeholders },
    });
    await expect(direct.send(new ListObjectsV2Command({ Bucket }))).rejects.toThrow(S3ServiceException);
    direct.destroy();
  });

  test.each(KEYS)('an object %j is put, read and listed', async (Key) => {
    const Metadata = { purpose: 'a  test' };
    await client.send(new PutObjectCommand({ Bucket, Key, Body: `body of ${Key}`, Metadata }));
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    expect(await Body?.transformToString()).toBe(`body of ${Key}`);
    expect((await client.send(new HeadObjectCommand({ Bucket, Key }))).Metadata).toEqual(Metadata);
    const list = await client.send(new ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: 1 }));
    expect(list.Contents?.map((object) => object.Key)).toEqual([Key]);
  });

  test('a key that is encoded twice is denied', async () => {
    const get = client.send(new GetObjectCommand({ Bucket, Key: 'per%2Fcent' }));
    await expect(get).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
    expect((await network.rows()).at(-1)).toMatchObject({ reason: 'target-ambiguous', secrets: [] });
  });

  test('an upload of several parts', async () => {
    const Key = 'parts';
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const bodies = ['a'.repeat(5 * 1024 * 1024), 'the end'];
    const Parts = [];
    for (const [index, Body] of bodies.entries()) {
      const PartNumber = index + 1;
      const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ ETag, PartNumber });
    }
    await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(ContentLength).toBe(5 * 1024 * 1024 + 7);
  });

  test('rows name the secret, and Ceph gets no placeholder', async () => {
    const passed = (await network.rows()).filter(({ reason }) => reason === undefined);
    expect(passed.length).toBeGreaterThan(20);
    expect(passed.filter(({ secrets, misplaced }) => secrets[0] !== 'KEYS' || misplaced !== undefined)).toEqual([]);
    expect(JSON.stringify(passed)).not.toContain(ceph.owner.credentials.accessKeyId);
    const arrived = front.arrived();
    expect(arrived).toContain(`Credential=${ceph.owner.credentials.accessKeyId}/`);
    for (const placeholder of Object.values(network.placeholders)) expect(arrived).not.toContain(placeholder);
  });
});
