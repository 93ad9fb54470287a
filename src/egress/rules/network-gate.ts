import type { DenialReason } from '../../contracts/network/denial-reasons.ts';
import type { OutgoingCheck } from '../../outgoing/outgoing-rules.ts';

/**
 * A check that a test can leave out to show its purpose: a denial by its reason, a check of addresses, or one of the others. `operator`: the operator's
 * rules; `strict-http`: the strict reading of requests; `pipeline`: the waiting requests of a connection; `interim`: beginnings of an answer;
 * `headers`: their size; `certificate`: that of the host; `secret-…`: the places of a secret; `wash`: the answers.
 */
export type NetworkGate =
  | DenialReason
  | Extract<OutgoingCheck, 'resolved' | 'pinned' | 'connected' | 'headers' | 'certificate'>
  | 'operator'
  | 'strict-http'
  | 'pipeline'
  | 'interim'
  | 'secret-hosts'
  | 'secret-header'
  | 'secret-tls'
  | 'wash';
