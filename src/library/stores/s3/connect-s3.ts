import type { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import { FaultyAnswer } from './s3-failure.ts';
import { endpointOf, type S3Connection } from './s3-options.ts';

/** Amazon's client with its commands. */
export interface ConnectedS3 {
  sdk: typeof Sdk;
  client: Sdk.S3Client;
}

/** Limit of an answer that is not an object: a page of 1,000 keys of 1,024 bytes, all percent-encoded. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const SOCKETS = 32;
const DEFAULT_REGION = 'us-east-1';

const nothing = (): void => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Connects to a service. The client is loaded only here, as that takes longer than loading this whole package. */
export async function connectS3(connection: S3Connection): Promise<ConnectedS3> {
  const sdk = await import('@aws-sdk/client-s3');
  const endpoint = endpointOf(connection);
  const { credentials, forcePathStyle = endpoint !== undefined } = connection;
  const client = new sdk.S3Client({
    region: connection.region ?? (await configuredRegion(endpoint)),
    forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // An endpoint from a profile would be missing in the store's id, which separates the objects of different services in the cache.
    ignoreConfiguredEndpointUrls: true,
    ...(credentials === undefined ? {} : { credentials }),
    // Other services than Amazon's refuse the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A redirect to another region's service is refused: signed requests go only to the configured one.
    followRegionRedirects: false,
    // Retries are made by the caller: the SDK would repeat a write that may have succeeded.
    maxAttempts: 1,
    // Without one, it writes to the standard error of the process.
    logger: SILENT,
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
 * The region that Amazon's SDK finds. The metadata service of Amazon's machines is asked only for a bucket at Amazon: elsewhere it does not exist,
 * and a request to its address may hang for a second.
 */
async function configuredRegion(endpoint: string | undefined): Promise<string> {
  const config = await import('@smithy/core/config');
  const machine = config.NODE_REGION_CONFIG_OPTIONS;
  const options = endpoint === undefined ? machine : { ...machine, default: DEFAULT_REGION };
  try {
    return await config.loadConfig(options, config.NODE_REGION_CONFIG_FILE_OPTIONS)();
  } catch {
    // No region is configured. Most services other than Amazon's accept any.
    return DEFAULT_REGION;
  }
}

/** Reads an answer to its end, with a limit, which the client lacks. */
async function boundedBody(body: Readable): Promise<Readable> {
  const { Readable: Stream } = await import('node:stream');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) throw new FaultyAnswer(`the service sent an answer of more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Stream.from(chunks, { objectMode: false });
}
