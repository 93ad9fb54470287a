/** A checked network rule in its normal form. Plain data, which the host posts to its network worker. */
export interface CheckedRule {
  /** The rule as a text, for audits. It parses to the same rule unless the rule has several paths. */
  text: string;
  scheme: 'https' | 'http';
  /** A name without a dot at its end, or an address, IPv6 without brackets. */
  host: string;
  /** True for `*.HOST`: all names below the host at any depth, and not the host itself. */
  below: boolean;
  port: number;
  /** Absent for all methods except CONNECT and TRACE. */
  methods?: readonly string[];
  /** Patterns in the form of `normalPath`. Absent for all paths. */
  paths?: readonly string[];
}

/** Port of a rule that names none. */
export const DEFAULT_PORTS = { https: 443, http: 80 } as const;
