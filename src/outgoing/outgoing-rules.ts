import type { LookupAddress } from 'node:dns';

/**
 * What is looked at on the way out. `form` to `port` of the address that was written, `resolved` to `connected` of where it leads, `redirects` and
 * `downgrade` of where an answer sends on, the rest of the answer.
 */
export type OutgoingCheck =
  | 'form'
  | 'scheme'
  | 'credentials'
  | 'port'
  | 'resolved'
  | 'pinned'
  | 'connected'
  | 'redirects'
  | 'downgrade'
  | 'headers'
  | 'bytes'
  | 'inflated'
  | 'time'
  | 'type';

/** Gives the addresses of a host name. */
export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** Where requests may go. By default that is port 443 of addresses that everybody can reach. */
export interface OutgoingRules {
  /**
   * What may be reached beside that, also by plain http: a host name such as `git.corp.example`, an address, or a range such as `10.0.0.0/8`, with a port
   * where that is another one: `127.0.0.1:8080`, `[::1]:8080`. A host name allows the networks of companies and this machine, and never link-local
   * addresses, where clouds have their metadata.
   */
  allowPrivate?: readonly string[] | undefined;
  /** Ports beside 443 that may be asked anywhere. */
  ports?: readonly number[] | undefined;
  /** How host names become addresses. @default the system's way */
  lookup?: Lookup | undefined;
  /** @internal Checks that are not made. Tests show by it what each of them is for. */
  without?: readonly OutgoingCheck[] | undefined;
}
