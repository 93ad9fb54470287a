import type { CheckedRule } from './checked-rule.ts';

/** The rules of a job, each with the methods and paths that the operator leaves to it. */
export function usableRules(rules: readonly CheckedRule[], allow: readonly CheckedRule[]): CheckedRule[] {
  return rules.flatMap((rule) => {
    const narrower = allow.filter(
      (given) => given.host === rule.host && given.port === rule.port && given.below === rule.below,
    );
    const isOpen = rule.methods === undefined && rule.paths === undefined;
    return isOpen && narrower.length > 0 ? narrower : [rule];
  });
}
