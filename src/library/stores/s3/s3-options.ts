import type { S3ClientConfig } from '@aws-sdk/client-s3';
import * as z from 'zod/mini';
import { checkOptions } from '../../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** Access to a bucket. */
export interface S3Connection {
  bucket: string;
  /** Default: from Amazon's SDK, which reads the environment, a profile or, without an endpoint, the metadata of the machine; else `us-east-1`. */
  region?: string | undefined;
  /**
   * Address of a service other than Amazon's, `https://…` or `http://…`; without user and password. Default: `AWS_ENDPOINT_URL_S3` or
   * `AWS_ENDPOINT_URL` of the environment, else Amazon's own.
   */
  endpoint?: string | undefined;
  /** Keys that sign the requests, or a provider of them. Default: the ones that Amazon's SDK finds in the environment. */
  credentials?: S3ClientConfig['credentials'];
  /** Whether the bucket is part of the path of an address. @default true where there is an `endpoint` */
  forcePathStyle?: boolean | undefined;
  /** Longest time without a byte in a request, in milliseconds. @default 15000 */
  timeoutMs?: number | undefined;
  /** Attempts of a read, where the service fails. @default 3 */
  tries?: number | undefined;
}

/** The schema of {@link S3Connection}, for callers with further options. */
export const CONNECTION_SHAPE: Readonly<Record<keyof S3Connection, z.ZodMiniType>> = {
  bucket: z
    .string()
    .check(z.regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be 3 to 63 small letters, digits, dots and hyphens')),
  region: z.optional(z.string().check(z.regex(/^[a-z0-9-]{1,64}$/, 'must be small letters, digits and hyphens'))),
  endpoint: z.optional(z.string().check(z.maxLength(2_048))),
  credentials: z.optional(z.unknown()),
  forcePathStyle: z.optional(z.boolean()),
  timeoutMs: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(600_000))),
  tries: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(10))),
};

/** @throws SkillcellError `options.invalid` */
export function checkConnection(connection: S3Connection): void {
  checkOptions(z.strictObject(CONNECTION_SHAPE), connection, { action: 'open the bucket' });
  addressOf(connection);
}

/** The name of a bucket in messages and in the cache: its address, without credentials. */
export function addressOf({ bucket, ...connection }: S3Connection): string {
  const endpoint = endpointOf(connection);
  if (endpoint === undefined) return `s3://${bucket}/`;
  const url = URL.parse(endpoint);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    const message = 'Cannot open the bucket: the endpoint is an address of http or https without user and password';
    throw new SkillcellError('options.invalid', `${message}, got ${url === null ? 'no address' : url.host}.`);
  }
  return `s3+${url.protocol}//${url.host}${url.pathname.replace(/\/$/, '')}/${bucket}/`;
}

/** The endpoint in use, read as Amazon's SDK reads the environment. */
export function endpointOf(
  { endpoint }: Pick<S3Connection, 'endpoint'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  if (endpoint !== undefined) return endpoint;
  if (env['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'] === 'true') return undefined;
  return env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || undefined;
}
