import type { GitProtocol } from './git-address.ts';
import { STREAMED_MIB } from './git-limits.ts';
import type { GitAuthorization } from './git-token.ts';

/** What a command of git is told about where it may go. */
export interface GitReach {
  /** None where nothing is fetched. */
  protocol?: GitProtocol;
  /** Host, port and addresses that it is at, for curl. */
  pinned?: string;
  /** Certificates that are trusted in place of the system's. */
  caFile?: string | undefined;
  /** Who asks. Only the same user can read the environment of a process; everybody can read its arguments. */
  authorization?: GitAuthorization | undefined;
}

/** Programs and libraries of git, and nothing of the caller's. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The environment of a command: no configuration of the system or of a user, no prompt, no helper for credentials, no hook, one protocol, and no variable
 * of this process. What is configured arrives in variables, so that neither addresses nor tokens stand in the arguments of a
 * process.
 */
export function gitEnvironment({ protocol, pinned, caFile, authorization }: GitReach): Record<string, string> {
  const configuration: [key: string, value: string][] = [
    ['http.followRedirects', 'false'],
    ['http.proxy', ''],
    ['http.lowSpeedLimit', '1000'],
    ['http.lowSpeedTime', '30'],
    ...(pinned === undefined ? [] : [['http.curloptResolve', pinned] as [string, string]]),
    ...(caFile === undefined ? [] : [['http.sslCAInfo', caFile] as [string, string]]),
    ...(authorization === undefined
      ? []
      : [[`http.${authorization.origin}/.extraHeader`, authorization.header] as [string, string]]),
    ['credential.helper', ''],
    ['core.askPass', ''],
    ['core.hooksPath', '/dev/null'],
    ['core.attributesFile', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.bigFileThreshold', `${STREAMED_MIB}m`],
    // A pack, however small, so that the limit of one file is that of the whole.
    ['fetch.unpackLimit', '1'],
    ['fetch.recurseSubmodules', 'false'],
    ['fetch.writeCommitGraph', 'false'],
    ['transfer.bundleURI', 'false'],
    ['pack.threads', '1'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
  ];
  return {
    PATH,
    // Where neither curl finds a .netrc nor git a file of its own; without it, both ask for the user's real one.
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    // It counts before all configuration.
    GIT_ALLOW_PROTOCOL: protocol ?? 'none',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_CONFIG_COUNT: `${configuration.length}`,
    ...Object.fromEntries(
      configuration.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
