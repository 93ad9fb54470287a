import type { NetworkRule } from './network-rule.ts';
import type { NetworkRow } from './result-network.ts';

/** The value of a secret: given, or read when a job begins. */
export type SecretValue = { value: string } | { env: string } | { file: string } | { get(): string | Promise<string> };

/** A secret that requests of jobs may carry in a header to its hosts. Programs see a placeholder in its place. */
export type HeaderSecret = SecretValue & {
  /** Hosts that get the value, as in a rule; over https on port 443 unless they name another port. */
  hosts: string[];
  /** Header in which the placeholder is replaced. @default 'authorization' */
  header?: string;
  /** Environment variable with the placeholder. @default the name of the secret */
  variable?: string;
};

/** Keys for AWS, or for a service with the same signatures. A text is the value itself. */
export interface AwsKeys {
  accessKeyId: SecretValue | string;
  secretAccessKey: SecretValue | string;
  /** Only of temporary keys. */
  sessionToken?: SecretValue | string;
}

/**
 * Keys that sign requests of jobs to their hosts (AWS Signature Version 4). Programs see placeholders in `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY` and, for temporary keys, `AWS_SESSION_TOKEN`. A request that is signed with these is signed anew.
 */
export interface AwsSecret {
  aws: AwsKeys;
  /** Hosts that get signatures, as in a rule; over https on port 443 unless they name another port. */
  hosts: string[];
}

/** A secret that jobs may ask for. */
export type NetworkSecret = HeaderSecret | AwsSecret;

/** Packages that jobs may install, and their registries. */
export interface PackageOptions {
  /**
   * Names of npm, dependencies included: `is-odd`, `@acme/*`, or `*` for all. Registries and their tokens are those of this host's own npm
   * configuration. @default none
   */
  npm?: string[];
  /** Names of Python's packages, dependencies included. @default none */
  pypi?: string[];
  /** URL of the index of Python's packages. @default the variable PIP_INDEX_URL, else https://pypi.org/simple/ */
  index?: string;
}

/** The most that jobs of an orchestrator may do with the network. Without it, no job has a network. */
export interface NetworkOptions {
  /** Places that jobs may ask for. */
  allow: (NetworkRule | string)[];
  /** Secrets that jobs may ask for, by name. */
  secrets?: Record<string, NetworkSecret>;
  /** Packages that jobs may ask for. @default none */
  packages?: PackageOptions;
  /** File with further certificates that hosts and `upstreamProxy` may have, in PEM. */
  caFile?: string;
  /** Hosts and ranges that are not public and may be reached, as in docs/web-sources.md. */
  allowPrivate?: string[];
  /**
   * Returns the addresses of a host name. @default the system's resolver
   *
   * @example
   * ```ts
   * import { createOrchestrator } from 'skillcell';
   *
   * const lookup = async () => [{ address: '10.0.0.1', family: 4 }];
   * await using orchestrator = createOrchestrator({ network: { allow: ['api.example.com'], lookup } });
   * const code = "export default (await fetch('https://api.example.com/')).statusText;";
   * console.log((await orchestrator.exec({ code, network: ['api.example.com'] })).value);
   * // prints: Denied by policy: address-blocked, api.example.com
   * ```
   */
  lookup?: (host: string) => Promise<{ address: string; family: number }[]>;
  /** URL of a proxy through which all connections go. Addresses are then judged by the proxy only. */
  upstreamProxy?: string;
  /**
   * Called with each request, allowed or not. After it has thrown, all further requests are refused.
   *
   * @example
   * ```ts
   * import { createOrchestrator, type NetworkRow } from 'skillcell';
   *
   * const audit = ({ method, host, path, reason }: NetworkRow) => console.log(method, host, path, reason);
   * await using orchestrator = createOrchestrator({ network: { allow: ['api.example.com'], audit } });
   * await orchestrator.exec({ code: "await fetch('https://example.org/a?b=c');", network: ['api.example.com'] });
   * // prints: GET example.org /a host-not-allowed
   * ```
   */
  audit?: (row: NetworkRow) => void | Promise<void>;
}
