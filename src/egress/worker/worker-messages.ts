import type { ErrorCode } from '../../contracts/errors/error-registry.ts';
import type { NetworkRow } from '../../contracts/network/result-network.ts';
import type { CheckedRule } from '../rules/checked-rule.ts';
import type { NetworkGate } from '../rules/network-gate.ts';
import type { PackageRegistry } from '../packages/package-registry.ts';
import type { HeldSecret } from '../secrets/held-secret.ts';
import type { HeldAwsKeys } from '../signatures/held-aws-keys.ts';
import type { AuthorityParts } from '../certificates/create-authority.ts';

/** Limits of one job's network. */
export interface EgressLimits {
  /** Most connections of programs at once. */
  connections: number;
  requests: number;
  bytesIn: number;
  bytesOut: number;
}

/** A secret of a job, and the hosts that get it. */
export interface JobSecret extends HeldSecret {
  hosts: CheckedRule[];
}

/** Keys for AWS of a job, and the hosts that get signatures with them. */
export interface JobAwsKeys extends HeldAwsKeys {
  hosts: CheckedRule[];
}

/** A job as the worker knows it. */
export interface EgressJob {
  jobId: string;
  rules: CheckedRule[];
  secrets: JobSecret[];
  awsKeys: JobAwsKeys[];
  /** Registries of packages that it may read. */
  registries: PackageRegistry[];
  limits: EgressLimits;
}

/** Settings of the worker that all jobs share. */
export interface EgressSettings {
  /** Path of its socket. */
  address: string;
  /** The operator's rules. */
  allow: CheckedRule[];
  allowPrivate: readonly string[];
  /** Certificates that hosts may have besides those of Node, in PEM. */
  ca: string | undefined;
  upstreamProxy: string | undefined;
  /** Whether the host's thread resolves names. */
  hasLookup: boolean;
  /** Gates to leave out, for tests of their purpose. */
  without: readonly NetworkGate[];
}

/** Bytes of the token that begins each connection and names its job. */
export const TOKEN_BYTES = 32;

/** Bytes of the memory in which a job's use of its share is counted: three numbers. */
export const SHARE_BYTES: number = 3 * Float64Array.BYTES_PER_ELEMENT;

/** Messages of the host's thread. */
export type ToWorker =
  /**
   * `authority` is that of a job whose worker has failed: its programs trust it already. `used` is the memory of its share, which the
   * installation of its packages and its program have in common.
   */
  | { type: 'job'; token: string; job: EgressJob; authority: AuthorityParts | undefined; used: SharedArrayBuffer }
  | { type: 'end'; token: string }
  /** Asks for `synced`, which comes after all rows of ended requests. */
  | { type: 'sync'; id: number }
  | { type: 'looked'; id: number; addresses?: { address: string; family: number }[]; error?: string }
  /** The audit has failed: no further request is made. */
  | { type: 'refuse' }
  | { type: 'close' };

/** Messages of the worker. */
export type FromWorker =
  | { type: 'ready' }
  /** A request is passed on. Its row comes again at its end, unless the worker fails. */
  | { type: 'begun'; token: string; id: number; row: EgressRow }
  | { type: 'row'; token: string; id: number; row: EgressRow }
  | { type: 'admitted'; token: string; authority: AuthorityParts }
  /** The job cannot have a network. */
  | { type: 'refused'; token: string; code: ErrorCode; message: string }
  | { type: 'ended'; token: string }
  | { type: 'synced'; id: number }
  | { type: 'lookup'; id: number; host: string }
  /** An error that was not expected; all connections were ended. */
  | { type: 'fault'; message: string };

/** A request at its end. */
export type EgressRow = Omit<NetworkRow, 'jobId'>;
