import { configuredService } from './connect-s3.ts';
import { checkedPrefix } from './key-fault.ts';
import { openS3Access, type S3Access } from './s3-access.ts';
import { checkConnection } from './s3-options.ts';
import { createS3Store, type S3StoreOptions, type WritableStore } from './s3-store.ts';

/**
 * Opens `s3://bucket/prefix` as a user typed it. The service and the credentials come from the environment and the configuration of Amazon's SDK:
 * neither belongs in an address or a lock.
 *
 * @throws SkillcellError `store.key-invalid`, `options.invalid`
 */
export async function openS3Source({
  source,
  ...rest
}: Pick<S3StoreOptions, 'kind' | 'cache'> & { source: string }): Promise<WritableStore> {
  return createS3Store({ ...rest, ...(await configuredService()), ...placeOf(source) });
}

/**
 * Opens the bucket of `s3://bucket/prefix`, with the same service and credentials.
 *
 * @returns the bucket, and the prefix with a slash at its end; empty for a whole bucket
 * @throws SkillcellError `store.key-invalid`, `options.invalid`
 */
export async function openS3Place(source: string): Promise<{ access: S3Access; prefix: string }> {
  const { bucket, prefix } = placeOf(source);
  const connection = { ...(await configuredService()), bucket };
  checkConnection(connection);
  return { access: openS3Access(connection), prefix: checkedPrefix(prefix) };
}

function placeOf(source: string): { bucket: string; prefix: string } {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(source) ?? [];
  return { bucket, prefix };
}
