import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Variables of the process, as they were given. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The home of this user: `HOME` where it is an absolute path, else what the system says. */
export function homeFolder(env: Environment): string {
  const home = env['HOME'];
  return home !== undefined && isAbsolute(home) ? home : homedir();
}

/** Where this user's settings are. */
export function configFolder(env: Environment): string {
  const base = env['XDG_CONFIG_HOME'];
  return join(base !== undefined && isAbsolute(base) ? base : join(homeFolder(env), '.config'), 'skillcell');
}
