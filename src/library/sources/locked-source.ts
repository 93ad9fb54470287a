import { resolve } from 'node:path';
import type { LockedOrigin } from '../lock/format/lock-format.ts';
import { parseSource, refused } from './parse-source.ts';
import type { SourceSpec } from './source-spec.ts';

/**
 * The source of a locked skill, checked like a typed one: the lock file may come with a repository of an untrusted author.
 *
 * @param lockFolder absolute path of the folder of the lock file
 * @param at `commit` for the locked state, `ref` for the present state of the branch or tag
 * @throws SkillcellError `source.refused`
 */
export function lockedSource(origin: LockedOrigin, lockFolder: string, at: 'commit' | 'ref'): SourceSpec {
  const { type, source, commit } = origin;
  if (type === 'builtin') throw refused('it is the package itself', source);
  const wanted = type === 'git' && at === 'commit' ? (commit ?? origin.ref) : origin.ref;
  const ref = wanted === undefined ? {} : { ref: wanted };
  if (source.startsWith('.')) return { kind: type, source: resolve(lockFolder, source), ...ref };
  const { kind, source: address } = parseSource(type === 'mcp' ? `mcp:${source}` : source, lockFolder);
  if (kind !== type) throw refused(`it is locked with the type ${type}, but has the type ${kind}`, source);
  return { kind, source: address, ...ref };
}
