import type { DenialReason } from '../../contracts/network/denial-reasons.ts';
import { canonicalHost, hostText } from './canonical-host.ts';
import type { CheckedRule } from './checked-rule.ts';
import { isMethod } from './is-method.ts';
import { matchesPath } from './matches-path.ts';
import type { NetworkGate } from './network-gate.ts';
import { normalPath, withoutQuery } from './normal-path.ts';
import { targetAmbiguity } from './target-ambiguity.ts';

/** Rules of a job, and those of the operator. A request must pass one of each. */
export interface NetworkRules {
  job: readonly CheckedRule[];
  operator: readonly CheckedRule[];
  /** Gates to leave out. */
  without?: readonly NetworkGate[];
}

/** Target of a connection. */
export interface NetworkTarget {
  scheme: 'https' | 'http';
  /** In the form of `canonicalHost`. Other hosts never pass. */
  host: string;
  port: number;
}

/** A request of a program. */
export interface NetworkRequest extends NetworkTarget {
  method: string;
  /** Path and query as received. */
  path: string;
}

type Gate<T> = readonly [DenialReason, (rule: CheckedRule, request: T) => boolean];

const TARGET_GATES: readonly Gate<NetworkTarget>[] = [
  ['host-not-allowed', (rule, { host }) => (rule.below ? host.endsWith(`.${rule.host}`) : rule.host === host)],
  ['port-not-allowed', (rule, { port }) => rule.port === port],
  ['scheme-not-allowed', (rule, { scheme }) => rule.scheme === scheme],
];

const REQUEST_GATES: readonly Gate<NetworkRequest>[] = [
  ...TARGET_GATES,
  ['method-not-allowed', ({ methods }, { method }) => isMethod(method) && (methods?.includes(method) ?? true)],
  ['path-not-allowed', ({ paths }, { path }) => paths?.some((pattern) => matchesPath(pattern, path)) ?? true],
];

/** Judges a target before its requests are known, such as that of CONNECT. The reason is the gate that the best rule does not pass. */
export function judgeTarget(rules: NetworkRules, target: NetworkTarget): DenialReason | undefined {
  const passed = passGates(rules, TARGET_GATES, target);
  return 'reason' in passed ? passed.reason : undefined;
}

/**
 * Judges a request. One and the same rule must have its host, port, scheme, method and path. A target that can be read in two ways never
 * passes; `ambiguousHeader` judges the headers.
 *
 * @returns the job's first rule that allows it, or the first gate that no rule of the job, or of the operator, passes
 */
export function judgeRequest(
  rules: NetworkRules,
  request: NetworkRequest,
): { rule: CheckedRule } | { reason: DenialReason } {
  const path = normalPath(withoutQuery(request.path));
  const passed = passGates(rules, REQUEST_GATES, { ...request, path });
  const isClear = rules.without?.includes('target-ambiguous') === true || targetAmbiguity(request.path) === undefined;
  return 'reason' in passed || isClear ? passed : { reason: 'target-ambiguous' };
}

/** Each gate keeps the rules that pass it and all gates before. */
function passGates<T extends NetworkTarget>(
  { job, operator, without = [] }: NetworkRules,
  gates: readonly Gate<T>[],
  request: T,
): { rule: CheckedRule } | { reason: DenialReason } {
  const isCanonical = canonicalHost(hostText(request.host)) === request.host;
  let [left, leftOfOperator] = isCanonical ? [job, without.includes('operator') ? job : operator] : [[], []];
  for (const [reason, passes] of gates) {
    if (without.includes(reason)) continue;
    left = left.filter((rule) => passes(rule, request));
    leftOfOperator = leftOfOperator.filter((rule) => passes(rule, request));
    if (left.length === 0 || leftOfOperator.length === 0) return { reason };
  }
  const [rule] = left;
  return rule === undefined ? { reason: 'host-not-allowed' } : { rule };
}
