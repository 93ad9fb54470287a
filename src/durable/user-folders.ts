import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The home of this user: `HOME` if it is an absolute path, else the home in the system's user list. A relative path would make any
 * working folder the home, with the files of other people in it.
 *
 * @param listed reads the user list; for tests
 * @throws SkillcellError `path.unusable` if neither is an absolute path
 */
export function homeFolder(env: Environment, listed: () => string = listedHome): string {
  const home = absolute(env['HOME']) ?? absolute(listed());
  if (home !== undefined) return home;
  throw new SkillcellError(
    'path.unusable',
    `Cannot find the home of this user: HOME is not an absolute path, and the system lists no home, got ${JSON.stringify(env['HOME'] ?? null)}.`,
    { hint: 'Set HOME to the absolute path of your home.' },
  );
}

/** Settings folder of this user. By the XDG standard, an empty or relative variable counts as not set. */
export function configFolder(env: Environment): string {
  return join(absolute(env['XDG_CONFIG_HOME']) ?? join(homeFolder(env), '.config'), 'skillcell');
}

/** Default state folder of this user. */
export function stateFolder(env: Environment): string {
  return join(absolute(env['XDG_STATE_HOME']) ?? join(homeFolder(env), '.local/state'), 'skillcell');
}

/** Default cache folder of this user. */
export function defaultCacheFolder(env: Environment = process.env): string {
  return join(absolute(env['XDG_CACHE_HOME']) ?? join(homeFolder(env), '.cache'), 'skillcell');
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** Not `homedir()`: it returns any HOME unchecked. */
function listedHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    // The user has a number without an entry in the list.
    return '';
  }
}
