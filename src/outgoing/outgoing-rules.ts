import type { LookupAddress } from 'node:dns';

/**
 * Checks of an outgoing request. `form` to `port`: the given address; `resolved` to `connected`: the addresses of its host; `certificate`:
 * its own; `redirects` and `downgrade`: redirects; the others: the answer.
 */
export type OutgoingCheck =
  | 'form'
  | 'scheme'
  | 'credentials'
  | 'port'
  | 'resolved'
  | 'pinned'
  | 'connected'
  | 'certificate'
  | 'redirects'
  | 'downgrade'
  | 'headers'
  | 'bytes'
  | 'inflated'
  | 'time'
  | 'type';

/** Returns the addresses of a host name. */
export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** Allowed targets of requests. By default: https to port 443 of public addresses. */
export interface OutgoingRules {
  /**
   * Further allowed targets, also by plain http: a host name such as `git.corp.example`, an address, or a range such as `10.0.0.0/8`, with an
   * optional port: `127.0.0.1:8080`, `[::1]:8080`. A host name may lead to private networks and this machine, but never to link-local
   * addresses, where clouds keep their metadata.
   */
  allowPrivate?: readonly string[] | undefined;
  /** Ports besides 443 that are allowed for every host. */
  ports?: readonly number[] | undefined;
  /** Resolves host names. @default the system's resolver */
  lookup?: Lookup | undefined;
  /** @internal Checks to skip. Tests use it to show the purpose of each check. */
  without?: readonly OutgoingCheck[] | undefined;
}
