import { resolve } from 'node:path';
import type { LockedOrigin } from '../lock/format/lock-format.ts';
import { parseSource, refused } from './parse-source.ts';
import type { SourceSpec } from './source-spec.ts';

/**
 * The source of a locked skill, judged like one that somebody typed: a lock file comes with a repository, from whoever wrote that.
 *
 * @param lockFolder absolute path of the folder that the lock file is in
 * @param at `commit` for what was locked, `ref` for what the branch or tag means now
 * @throws SkillcellError `source.refused`
 */
export function lockedSource(origin: LockedOrigin, lockFolder: string, at: 'commit' | 'ref'): SourceSpec {
  const { type, source, commit } = origin;
  if (type === 'builtin') throw refused('it is the package itself', source);
  const wanted = type === 'git' && at === 'commit' ? (commit ?? origin.ref) : origin.ref;
  const ref = wanted === undefined ? {} : { ref: wanted };
  if (source.startsWith('.')) return { kind: type, source: resolve(lockFolder, source), ...ref };
  const { kind, source: address } = parseSource(type === 'mcp' ? `mcp:${source}` : source, lockFolder);
  if (kind !== type) throw refused(`it is locked as one of ${type} and is none`, source);
  return { kind, source: address, ...ref };
}
