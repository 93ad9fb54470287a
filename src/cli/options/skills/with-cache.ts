import { defaultCacheFolder } from '../../../durable/user-folders.ts';
import { openTreeCache, type TreeCache } from '../../../library/stores/cache/tree-cache.ts';
import type { CliIo } from '../../terminal/cli-io.ts';

/** Does some work with the cache of this user; what it gave may be evicted afterwards. */
export async function withCache<Result>({ env }: CliIo, work: (cache: TreeCache) => Promise<Result>): Promise<Result> {
  const cache = openTreeCache(defaultCacheFolder(env));
  try {
    return await work(cache);
  } finally {
    cache.close();
  }
}
