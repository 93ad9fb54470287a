import type { GitProtocol } from './git-address.ts';
import { STREAMED_MIB } from './git-limits.ts';
import type { GitAuthorization } from './git-token.ts';

/** Network access of one git command. */
export interface GitReach {
  /** Absent where nothing is fetched. */
  protocol?: GitProtocol;
  /** Host, port and checked addresses, in curl's format. */
  pinned?: string;
  /** Certificates to trust in place of the system's. */
  caFile?: string | undefined;
  /** In the environment, as only the same user can read that of a process; every user can read its arguments. */
  authorization?: GitAuthorization | undefined;
}

/** Folders of git and its helper programs; the caller's PATH is not used. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The environment of a git command. It has no configuration of the system or of a user, no prompt, no credential helper, no hook, one protocol, and
 * no variable of this process. Configuration goes into variables, so that no address or token is in the arguments of a process.
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
    // Always a pack, so that the limit for one file covers the whole fetch.
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
    // Here neither curl finds a .netrc nor git a file of its own. Without HOME, both look up the user's real home folder.
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    // Takes precedence over all configuration.
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
