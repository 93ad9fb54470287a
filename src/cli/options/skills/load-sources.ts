import { join } from 'node:path';
import { folderOf } from '../../../library/stores/cache/cache-part.ts';
import { recoverSkills } from '../../../library/lock/change-skills.ts';
import { LOCK_FILE } from '../../../library/lock/format/lock-format.ts';
import { openSkillLibrary } from '../../../library/open-skill-library.ts';
import { defaultCacheFolder, homeFolder } from '../../../durable/user-folders.ts';
import { chooseSources } from '../../../library/trust/choose-sources.ts';
import type { SourceName } from '../../../library/trust/source-folders.ts';
import type { SkillLibrary, SkillLibraryOptions } from '../../../library/snapshot/skill-library.ts';
import type { SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import { openTreeCache } from '../../../library/stores/cache/tree-cache.ts';
import type { CliIo } from '../../terminal/cli-io.ts';

type LibraryOptions = Pick<SkillLibraryOptions, 'builtinRoot' | 'descriptor' | 'bundleRoot' | 'lockFile' | 'frozen'>;

/** Loads skills with those of the user or the project. They are read in place; the cache holds earlier reads. */
export async function loadSources(
  options: LibraryOptions,
  { names, refs }: { names: ReadonlySet<SourceName>; refs: readonly string[] },
  io: CliIo,
): Promise<SkillsSubsystem> {
  await using library = await openSources(options, names, io);
  return await inPlace(library, refs);
}

/** The skills of a library, read in place; the ranges of references decide on versions. */
export async function inPlace(library: SkillLibrary, refs: readonly string[]): Promise<SkillsSubsystem> {
  return await library.subsystem({ copy: false, includeInternal: true, versionsFor: refs });
}

/** Whether the cache of this user is writable. @throws SkillcellError `store.unavailable` if another user may have written to it */
export function hasCache({ env }: CliIo): boolean {
  return folderOf(defaultCacheFolder(env), 'trees') !== null;
}

/** Opens a library of the named sources. The caller closes it. */
export async function openSources(
  options: LibraryOptions,
  names: ReadonlySet<SourceName>,
  io: CliIo,
): Promise<SkillLibrary> {
  await recoverSources(names, io);
  const cacheDir = defaultCacheFolder(io.env);
  const { stores, gate } = chooseSources({ names, env: io.env, cwd: io.cwd(), cache: openTreeCache(cacheDir) });
  return await openSkillLibrary({ ...options, stores, gate, cacheDir });
}

/** Completes changes of skills that were killed halfway: otherwise a skill would be missing silently, and a project would seem to have changed. */
export async function recoverSources(names: ReadonlySet<SourceName>, io: Pick<CliIo, 'env' | 'cwd'>): Promise<void> {
  if (names.has('user')) await recoverSkills(join(homeFolder(io.env), '.agents', LOCK_FILE));
  if (names.has('project')) await recoverSkills(join(io.cwd(), LOCK_FILE));
}
