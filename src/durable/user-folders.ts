import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Variables of the process, as they were given. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The home of this user: `HOME` where it is an absolute path, else what the system's list of users says. A path that is relative would
 * make any folder the home, with whatever somebody else has put there.
 *
 * @param listed what that list says; for tests
 * @throws SkillcellError `path.unusable` where neither names a home
 */
export function homeFolder(env: Environment, listed: () => string = listedHome): string {
  const home = absolute(env['HOME']) ?? absolute(listed());
  if (home !== undefined) return home;
  throw new SkillcellError(
    'path.unusable',
    `Cannot find the home of this user: HOME is no absolute path, and the system names none, got ${JSON.stringify(env['HOME'] ?? null)}.`,
    { hint: 'Set HOME to the absolute path of your home.' },
  );
}

/** Where this user's settings are. A variable that is empty or relative counts as not set, as its standard says. */
export function configFolder(env: Environment): string {
  return join(absolute(env['XDG_CONFIG_HOME']) ?? join(homeFolder(env), '.config'), 'skillcell');
}

/** Where is kept what only saves time, unless another place is named. */
export function defaultCacheFolder(env: Environment = process.env): string {
  return join(absolute(env['XDG_CACHE_HOME']) ?? join(homeFolder(env), '.cache'), 'skillcell');
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** `homedir()` would hand back HOME, whatever it is. */
function listedHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    // A user that has a number and no name.
    return '';
  }
}
