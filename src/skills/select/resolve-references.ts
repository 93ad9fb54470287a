import type { ReferenceRow } from '../../contracts/skills/skill.ts';
import type { Policy } from './policy.ts';
import { bareReference, fullId, withoutRange, withoutScheme } from '../text/bare-reference.ts';

/** Data that a reference is looked up in. */
export interface ReferenceScope {
  /** Whether a skill of this full id is loaded. */
  has(id: string): boolean;
  /** Full ids of the snapshot; without it there are no short ids. */
  shortIds?: readonly string[] | undefined;
}

const SHORT_ID = /^sk([1-9][0-9]{0,8})$/i;

/** Why an internal skill is refused. */
export const INTERNAL_ONLY = 'internal skills are loaded by import only';

/** The rights of the consumer, and the loaded skills. */
export interface ResolveScope extends ReferenceScope {
  policy: Policy;
  includeInternal: boolean;
  /** Says which required tools of a skill are not offered; absent when the offered tools are unknown. */
  lacks?(id: string): string | undefined;
  /** Ids that a failing reference may mean. */
  suggest(reference: string): string[];
}

/**
 * Answers every reference of a request with one row. The policy restricts loading in the same way as listing.
 *
 * @param references in request order
 * @param scope loaded skills, policy, and the snapshot
 * @returns one row a reference, in the same order
 */
export function resolveReferences(references: readonly string[], scope: ResolveScope): ReferenceRow[] {
  const seen = new Set<string>();
  return references.map((ref): ReferenceRow => {
    const id = resolveReference(ref, scope);
    if (id === undefined) return { ref, status: 'unknown', reason: unknownReason(ref, scope) };
    const refusal = refusalOf(id, scope);
    if (refusal !== undefined) return { ref, id, status: 'denied', reason: refusal };
    if (seen.has(id)) return { ref, id, status: 'duplicate', reason: 'an earlier reference asks for the same skill' };
    seen.add(id);
    return { ref, id, status: 'loaded' };
  });
}

function unknownReason(ref: string, scope: ResolveScope): string {
  const ids = scope.suggest(bareReference(ref)).filter((id) => refusalOf(id, scope) === undefined);
  return `no loaded skill has this id${ids.length === 0 ? '' : `; there is ${ids.join(', ')}`}`;
}

/**
 * Says why a consumer may not ask for a skill.
 *
 * @param id full id of a loaded skill
 * @param scope the consumer's policy, whether internal skills may be asked for, and the check for missing tools
 * @returns one line, or undefined when the skill is allowed
 */
export function refusalOf(
  id: string,
  scope: Pick<ResolveScope, 'policy' | 'includeInternal' | 'lacks'>,
): string | undefined {
  if (scope.policy.denies(id)) return 'disabled for this consumer';
  if (!scope.policy.allows(id)) return 'not among the skills enabled for this consumer';
  if (!scope.includeInternal && id.startsWith('internal.')) return INTERNAL_ONLY;
  return scope.lacks?.(id);
}

/**
 * Finds the skill that a reference means. In this order: strip `sk:` or `skill:` · a short id of the snapshot · strip one
 * `skills.` · a full id · without a dot, `public.<id>`.
 *
 * @param reference as it was given
 * @param scope loaded skills, and the snapshot
 * @returns the full id of a loaded skill, or undefined
 */
export function resolveReference(reference: string, scope: ReferenceScope): string | undefined {
  const text = withoutScheme(withoutRange(reference));
  const shortId = SHORT_ID.exec(text);
  const shown = shortId === null ? undefined : scope.shortIds?.[Number(shortId[1]) - 1];
  if (shown !== undefined) return scope.has(shown) ? shown : undefined;
  const bare = text.replace(/^skills\./, '');
  if (scope.has(bare)) return bare;
  const id = fullId(bare);
  return scope.has(id) ? id : undefined;
}
