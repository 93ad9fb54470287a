import { configuredService } from './connect-s3.ts';
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
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)\/?(.*)$/s.exec(source) ?? [];
  return createS3Store({ ...rest, ...(await configuredService()), bucket, prefix });
}
