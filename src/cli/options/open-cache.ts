import { defaultCacheFolder, openTreeCache, type TreeCache } from '../../stores/cache/tree-cache.ts';
import type { CliIo } from '../terminal/cli-io.ts';

/** The cache of this user. */
export function openCache({ env }: CliIo): TreeCache {
  return openTreeCache(defaultCacheFolder(env));
}
