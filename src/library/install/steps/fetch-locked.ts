import type { SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { skillDigest } from '../../../skills/text/digest.ts';
import { listFiles, type TreeCache } from '../../stores/cache/tree-cache.ts';
import type { LockedSkill } from '../../lock/format/lock-format.ts';
import { readTree } from '../../lock/read-tree.ts';
import { findInSource } from '../../sources/find-in-source.ts';
import { lockedSource } from '../../sources/locked-source.ts';

/** Access to locked bytes. */
export interface FetchLockedOptions {
  cache: TreeCache;
  /** Absolute path of the folder of the lock file. */
  lockFolder: string;
  /** Hosts and ranges whose addresses may be private. */
  allowPrivate?: readonly string[] | undefined;
  /** Tokens of private git repositories, by origin. */
  tokens?: ReadonlyMap<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fetches exactly the locked bytes: from the cache, else from their source at the locked commit.
 *
 * @throws SkillcellError `lock.mismatch` where the source has other bytes; `source.refused`, `store.unavailable`
 */
export async function fetchLocked(locked: LockedSkill, options: FetchLockedOptions): Promise<SkillTree> {
  const { cache, lockFolder, allowPrivate, tokens, signal } = options;
  const kept = cache.find(locked.digest);
  if (kept !== undefined) {
    const tree = readTree(kept.folder, kept.files);
    if (skillDigest(listFiles(tree)) === locked.digest) return tree;
  }
  const { folder } = locked.origin;
  const spec = lockedSource(locked.origin, lockFolder, 'commit');
  const { skills, refused } = await findInSource(spec, {
    cache,
    lockFolder,
    only: new Set([folder]),
    nested: true,
    allowPrivate,
    tokens,
    signal,
  });
  const found = skills.find(({ origin, skill }) => origin.folder === folder && skill.digest === locked.digest);
  if (found !== undefined) return found.read();
  const bad = refused.find((one) => one.folder === folder);
  if (bad !== undefined) throw bad.error;
  const got = skills.find(({ origin }) => origin.folder === folder)?.skill.digest ?? 'no such skill';
  throw new SkillcellError(
    'lock.mismatch',
    `Cannot install ${locked.id}: its source does not have the locked bytes any more, got ${got}.`,
    { hint: '`skillcell skills update` takes the present bytes of the source.' },
  );
}
