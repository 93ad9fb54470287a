/** Reasons why a request of a job is denied, and the text for the program that made it. */
export const DENIAL_REASONS = {
  'host-not-allowed': 'this job may not reach the host',
  'port-not-allowed': 'this job may not use the port of the host',
  'scheme-not-allowed': 'this job may not use the scheme with the host',
  'method-not-allowed': 'this job may not use the method with the host',
  'path-not-allowed': 'this job may not use the path of the host',
  'package-not-allowed': 'this job may not read the package, or not from this registry',
  'target-ambiguous': 'the target or a header of the request can be read in two ways',
  'authority-mismatch': 'the request names two different hosts',
  'address-blocked': 'the host has an address that is not public',
  'protocol-refused': 'only HTTP/1.1 requests are passed on, without upgrades and inner tunnels',
  'signature-unsupported': 'a signature of this form cannot be made anew with the key of the placeholder',
  'response-unscannable': 'the answer of a host that gets a credential cannot be checked',
  'audit-failed': 'the request cannot be recorded',
  quota: 'the job has used up its share of the network',
} as const;

/** Reason why a request is denied. */
export type DenialReason = keyof typeof DENIAL_REASONS;
