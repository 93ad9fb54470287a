import { defaultCacheFolder } from '../../../durable/user-folders.ts';
import { openTreeCache, type TreeCache } from '../../../library/stores/cache/tree-cache.ts';
import type { CliIo } from '../../terminal/cli-io.ts';

/** Runs `work` with the cache of this user; trees of the cache may be evicted afterwards. */
export async function withCache<Result>({ env }: CliIo, work: (cache: TreeCache) => Promise<Result>): Promise<Result> {
  const cache = openTreeCache(defaultCacheFolder(env));
  try {
    return await work(cache);
  } finally {
    cache.close();
  }
}
