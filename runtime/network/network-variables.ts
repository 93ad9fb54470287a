import { join } from 'node:path';
import { OWN_HOSTS } from '../../src/contracts/network/own-hosts.ts';
import type { SandboxNetwork } from '../../src/contracts/jobs/globals.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** Port of the door on 127.0.0.1. */
export const DOOR_PORT = 3128;

/** Variables with the path of trusted certificates: of Node, OpenSSL and Python, requests, curl, git, pip, npm, cargo and the tools of AWS. */
const CERTIFICATE_VARIABLES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'npm_config_cafile',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
];

/** The file with the certificate of the authority: beside the skills, where user code can read and not write. */
export function authorityFile({ skills }: SandboxLayout): string {
  return join(skills, '.network', 'authority.pem');
}

/** npm's configuration, beside it. */
export function npmrcFile({ skills }: SandboxLayout): string {
  return join(skills, '.network', 'npmrc');
}

/** The environment variables by which programs find the door. Without a network there are none. */
export function networkVariables(network: SandboxNetwork | undefined, layout: SandboxLayout): Record<string, string> {
  if (network === undefined) return {};
  const door = `http://127.0.0.1:${DOOR_PORT}`;
  const file = authorityFile(layout);
  return {
    ...both('http_proxy', door),
    ...both('https_proxy', door),
    ...both('no_proxy', OWN_HOSTS.join(',')),
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(CERTIFICATE_VARIABLES.map((name) => [name, file])),
    ...(network.npmrc === undefined ? {} : { npm_config_userconfig: npmrcFile(layout) }),
    ...network.variables,
  };
}

/** Node can join a network after its start since 24.14. */
const JOINS_LATE = [24, 14] as const;

/**
 * The variables that an interpreter must have from its start.
 *
 * @param own without those of the network
 * @param all with them
 */
export function variablesOfStart(own: Record<string, string>, all: Record<string, string>): Record<string, string> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const joinsLate = major > JOINS_LATE[0] || (major === JOINS_LATE[0] && minor >= JOINS_LATE[1]);
  return joinsLate ? own : all;
}

/** Some programs read only the variable in capitals, others only the one in small letters. */
function both(name: string, value: string): Record<string, string> {
  return { [name]: value, [name.toUpperCase()]: value };
}
