import { dirname, join } from 'node:path';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { computedHash, readSkillsLock, SKILLS_LOCK_FILE, type SkillsLockEntry } from '../lock/format/skills-lock.ts';
import { findInSource, type FoundSkill } from '../sources/find-in-source.ts';
import { parseSource, refused } from '../sources/parse-source.ts';
import { addSkills, type AddedSkill } from './add-skills.ts';

/** Options of an import of `skills-lock.json`. */
export interface ImportSkillsLockOptions {
  /** Path of the lock file to write; `skills-lock.json` is in the same folder. */
  lockFile: string;
  cache: TreeCache;
  allowPrivate?: readonly string[] | undefined;
  /** Tokens of private git repositories, by origin. */
  tokens?: ReadonlyMap<string, string> | undefined;
  /** Also replaces folders with local changes, or of unknown origin. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fetches the skills of a `skills-lock.json` from their sources, and locks them. The hash in that file decides whether the bytes are right.
 *
 * @returns undefined where there is no such file
 * @throws SkillcellError `lock.mismatch` for other bytes; `lock.invalid`, `source.refused`, `store.unavailable`
 */
export async function importSkillsLock(options: ImportSkillsLockOptions): Promise<AddedSkill[] | undefined> {
  const { lockFile, force, signal } = options;
  const entries = readSkillsLock(join(dirname(lockFile), SKILLS_LOCK_FILE));
  if (entries === undefined) return undefined;
  const found: FoundSkill[] = [];
  for (const entry of entries) found.push(await findEntry(entry, options));
  return await addSkills(found, { lockFile, into: '.agents/skills', force, signal });
}

async function findEntry(entry: SkillsLockEntry, options: ImportSkillsLockOptions): Promise<FoundSkill> {
  const { name, source, sourceType, ref, computedHash: expected } = entry;
  const { lockFile, cache, allowPrivate, tokens, signal } = options;
  if (!SOURCE_TYPES.has(sourceType)) throw refused(`skills of the type ${quotedText(sourceType)} are not read`, source);
  const lockFolder = dirname(lockFile);
  const spec = parseSource(ref === undefined ? source : `${source}#${ref}`, lockFolder);
  const { skills } = await findInSource(spec, { cache, lockFolder, nested: true, allowPrivate, tokens, signal });
  const named = skills.filter(({ skill }) => skill.skillId === name || skill.fields.name === name);
  const same = named.find((one) => computedHash(one.read()) === expected);
  if (same !== undefined) return same;
  const got = named.length === 0 ? 'no such skill' : `sha256:${computedHash((named[0] as FoundSkill).read())}`;
  throw new SkillcellError(
    'lock.mismatch',
    `Cannot install ${quotedText(name)}: its source does not have the bytes of ${SKILLS_LOCK_FILE}, got ${got}.`,
    {
      hint: 'That file has no commit: name a ref that still has the bytes, or add the present ones by `skillcell skills add`.',
    },
  );
}

const SOURCE_TYPES: ReadonlySet<string> = new Set(['github', 'git', 'gitlab', 'local']);
