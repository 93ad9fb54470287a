import { type Diagnostic, diagnostic, type DiagnosticPlace } from '../../contracts/errors/diagnostic.ts';
import type { Namespace, RootKind } from '../../contracts/skills/skill.ts';
import { folderId, isSlug } from '../text/slug.ts';

const NAMESPACES: ReadonlySet<string> = new Set<Namespace>(['public', 'internal', 'custom']);

/** Place of a skill, and the namespace that it claims. */
export interface PublishClaim {
  rootKind: RootKind;
  /** Name of the skill's folder. */
  folder: string;
  /** Path of the folder below its root, `.` for the root itself. */
  dir: string;
  /** `namespace` of the frontmatter. */
  namespace?: string | undefined;
  /** `overrides` of the descriptor. */
  overrides: ReadonlySet<string>;
  /** `custom_namespaces` of the descriptor; they count for its own root only. */
  customNamespaces: ReadonlySet<string>;
  /** The skill's file in diagnostics. */
  place: DiagnosticPlace;
  /** Place of `namespace` in the file. */
  namespacePlace: DiagnosticPlace;
}

/** The id under which a skill is published. */
export interface PublishedId {
  id: string;
  namespace: string;
  skillId: string;
}

/**
 * Decides a skill's full id. The built-in root may publish every namespace. Other roots publish `custom`, except ids that
 * the descriptor lists under `overrides`; the descriptor's own root may also publish its `custom_namespaces`.
 *
 * @param claim place and claims of the skill
 * @returns the id, undefined when the folder name holds no usable character, and diagnostics for each change
 */
export function publishId(claim: PublishClaim): { published?: PublishedId; diagnostics: Diagnostic[] } {
  const { place } = claim;
  const diagnostics: Diagnostic[] = [];
  const { id: skillId, slugged } = folderId(claim.folder);
  if (skillId === '') {
    const message = `The folder name ${JSON.stringify(claim.folder)} has no character that an id may hold.`;
    diagnostics.push(diagnostic('skill.id-invalid', message, place));
  } else if (slugged) {
    const message = `The folder name ${JSON.stringify(claim.folder)} is no slug; the id is ${skillId}.`;
    diagnostics.push(diagnostic('skill.id-slugged', message, place));
  }
  if (claim.namespace !== undefined && !isKnown(claim, claim.namespace)) {
    const line = `"custom_namespaces": [${JSON.stringify(claim.namespace)}]`;
    const advice = mayBeNamespace(claim.namespace)
      ? ` A descriptor allows it for its own root by the line ${line}.`
      : '';
    const message = `The root may not publish the namespace ${JSON.stringify(claim.namespace)}; it is ignored.${advice}`;
    diagnostics.push(diagnostic('skill.namespace-unknown', message, { ...place, ...claim.namespacePlace }));
  }
  const claimed = claimedNamespace(claim);
  const namespace = grantedNamespace(claim, claimed, skillId);
  if (claimed !== undefined && namespace !== claimed) {
    const message = `Only the built-in root publishes ${claimed}; the skill stays custom.`;
    diagnostics.push(diagnostic('skill.namespace-reserved', message, { ...place, ...claim.namespacePlace }));
  }
  if (skillId === '') return { diagnostics };
  return { published: { id: `${namespace}.${skillId}`, namespace, skillId }, diagnostics };
}

/**
 * Tells whether a text names one of the three namespaces.
 *
 * @param text any text
 * @returns true for `public`, `internal` and `custom`
 */
export function isNamespace(text: string): text is Namespace {
  return NAMESPACES.has(text);
}

/**
 * Tells whether a descriptor may allow a namespace: a slug other than the three namespaces and `skills`, a prefix that
 * references drop.
 *
 * @param text any text
 */
export function mayBeNamespace(text: string): boolean {
  return text === text.normalize('NFKC') && isSlug(text) && !isNamespace(text) && text !== 'skills';
}

/**
 * Tells whether only the built-in root may publish a namespace without a grant.
 *
 * @param namespace any namespace
 * @returns true for `public` and `internal`
 */
export function isBuiltinNamespace(namespace: string): boolean {
  return isNamespace(namespace) && namespace !== 'custom';
}

function isKnown({ rootKind, customNamespaces }: PublishClaim, namespace: string): boolean {
  return isNamespace(namespace) || (rootKind === 'custom' && customNamespaces.has(namespace.normalize('NFKC')));
}

function claimedNamespace(claim: PublishClaim): string | undefined {
  const { namespace, dir } = claim;
  if (namespace !== undefined && isKnown(claim, namespace)) return namespace.normalize('NFKC');
  const slash = dir.indexOf('/');
  const first = slash < 0 ? '' : dir.slice(0, slash);
  return isKnown(claim, first) ? first.normalize('NFKC') : undefined;
}

function grantedNamespace(claim: PublishClaim, claimed: string | undefined, skillId: string): string {
  if (claim.rootKind === 'builtin') return claimed ?? 'public';
  if (claimed === undefined || !isBuiltinNamespace(claimed)) return claimed ?? 'custom';
  return claim.overrides.has(`${claimed}.${skillId}`) ? claimed : 'custom';
}
