import type { DenialReason } from './denial-reasons.ts';

/** Denied requests of one kind. */
export interface DeniedRequests {
  reason: DenialReason;
  scheme: 'https' | 'http';
  /** As the program wrote it, shortened and with controls escaped. */
  host: string;
  port: number;
  method?: string;
  /** Without query. */
  path?: string;
  count: number;
}

/** Use of the network by a job, or by one run of a session. */
export interface ResultNetwork {
  /** Requests that were passed on. */
  requests: number;
  /** Bytes of the bodies of answers. */
  bytesIn: number;
  /** Bytes of the bodies of requests. */
  bytesOut: number;
  /** Names of the secrets that were sent. */
  secrets: string[];
  /** The first 50 kinds of denied requests. */
  denied: DeniedRequests[];
  /** Denied requests of further kinds. */
  deniedMore: number;
  /** Errors of the host's network worker; absent if it had none. */
  faults?: string[];
}

/** One request of a job, allowed or not, for an audit. */
export interface NetworkRow {
  /** Start of the request, as ISO 8601. */
  at: string;
  jobId: string;
  /** Text of the job's rule that allowed it. */
  rule?: string;
  method?: string;
  scheme: 'https' | 'http';
  host: string;
  port: number;
  /** Address of the connection. */
  address?: string;
  /** Without query. */
  path?: string;
  /** Status of the answer that the program got; absent if it got none. */
  status?: number;
  bytesIn: number;
  bytesOut: number;
  ms: number;
  reason?: DenialReason | 'upstream-unreachable' | 'upstream-tls';
  /** The refused thing, of a connection without a request. */
  detail?: string;
  /** Names of secrets whose placeholders stood in other places than their header. They were passed on as they are. */
  misplaced?: string[];
  /** Names of the secrets that were sent. */
  secrets: string[];
}
