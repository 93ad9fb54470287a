import type { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import { FaultyAnswer } from './s3-failure.ts';
import { endpointOf, type S3Connection } from './s3-options.ts';

/** Amazon's client with its commands. */
export interface ConnectedS3 {
  sdk: typeof Sdk;
  client: Sdk.S3Client;
}

/** The most bytes of an answer that is no object: a page of 1,000 keys of 1,024 bytes, each of them written with percent signs. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const SOCKETS = 32;
const DEFAULT_REGION = 'us-east-1';

/** Connects to a service. The client is loaded here: it takes longer than all of ours together. */
export async function connectS3(connection: S3Connection): Promise<ConnectedS3> {
  const sdk = await import('@aws-sdk/client-s3');
  const endpoint = endpointOf(connection);
  const { credentials, forcePathStyle = endpoint !== undefined } = connection;
  const client = new sdk.S3Client({
    region: connection.region ?? (await configuredRegion(endpoint)),
    forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // One of a profile would not be in the name of the store, by which the cache knows whose an object is.
    ignoreConfiguredEndpointUrls: true,
    ...(credentials === undefined ? {} : { credentials }),
    // Services that are not Amazon's refuse the checksums that it adds by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A service that names another one is not believed: what is signed goes where the operator said.
    followRegionRedirects: false,
    // Tries are ours: it would send a write again that may have been done.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 5_000,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
    },
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const response = result.response as { statusCode: number; body: Readable };
        const isObject = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isObject) response.body = await boundedBody(response.body);
        return result;
      },
    { step: 'deserialize', priority: 'low', name: 'boundedBody' },
  );
  return { sdk, client };
}

/** The endpoint and the region that Amazon's SDK finds: in the environment, or in the files of a profile. */
export async function configuredService(): Promise<{ endpoint: string | undefined; region: string }> {
  const sdk = await import('@aws-sdk/client-s3');
  const { config } = new sdk.S3Client({ region: DEFAULT_REGION });
  const endpoint = await config.serviceConfiguredEndpoint?.();
  return { endpoint, region: await configuredRegion(endpoint) };
}

/**
 * The region that Amazon's SDK finds. The service that tells a machine of Amazon's where it stands is asked for a bucket of Amazon's only:
 * elsewhere nobody answers, and its address may swallow what is sent for a second.
 */
async function configuredRegion(endpoint: string | undefined): Promise<string> {
  const config = await import('@smithy/core/config');
  const machine = config.NODE_REGION_CONFIG_OPTIONS;
  const options = endpoint === undefined ? machine : { ...machine, default: DEFAULT_REGION };
  try {
    return await config.loadConfig(options, config.NODE_REGION_CONFIG_FILE_OPTIONS)();
  } catch {
    // None is named, and most services but Amazon's take any.
    return DEFAULT_REGION;
  }
}

/** Reads an answer to its end, which a client does without a bound. */
async function boundedBody(body: Readable): Promise<Readable> {
  const { Readable: Stream } = await import('node:stream');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) throw new FaultyAnswer(`an answer of more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Stream.from(chunks, { objectMode: false });
}
