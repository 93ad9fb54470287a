import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { Namespace, RootKind } from '../contracts/skill.ts';
import { diagnostic } from './diagnostic-codes.ts';
import { folderId } from './slug.ts';

const NAMESPACES: ReadonlySet<string> = new Set<Namespace>(['public', 'internal', 'custom']);

/** Where a skill was found and what it says of itself. */
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
  /** The skill's file in diagnostics. */
  path: string;
}

/** The id under which a skill is published. */
export interface PublishedId {
  id: string;
  namespace: Namespace;
  skillId: string;
}

/**
 * Decides a skill's full id. The built-in root may publish every namespace; other roots publish `custom`, unless the
 * descriptor lists the claimed id under `overrides`.
 *
 * @param claim where the skill is and what it claims
 * @returns the id, undefined when nothing is left of the folder name, and what was changed
 */
export function publishId(claim: PublishClaim): { published?: PublishedId; diagnostics: Diagnostic[] } {
  const { path } = claim;
  const diagnostics: Diagnostic[] = [];
  const { id: skillId, slugged } = folderId(claim.folder);
  if (skillId === '') {
    const message = `Nothing is left of the folder name ${JSON.stringify(claim.folder)} as an id.`;
    return { diagnostics: [diagnostic('skill.id-invalid', message, { path })] };
  }
  if (slugged) {
    const message = `The folder name ${JSON.stringify(claim.folder)} is no slug; the id is ${skillId}.`;
    diagnostics.push(diagnostic('skill.id-slugged', message, { path }));
  }
  if (claim.namespace !== undefined && !isNamespace(claim.namespace)) {
    const message = `namespace ${JSON.stringify(claim.namespace)} is none of public, internal, custom; it is ignored.`;
    diagnostics.push(diagnostic('skill.namespace-unknown', message, { path }));
  }
  const claimed = claimedNamespace(claim);
  const namespace = grantedNamespace(claim, claimed, skillId);
  if (claimed !== undefined && namespace !== claimed) {
    const message = `Only the built-in root publishes ${claimed}; the skill stays custom.`;
    diagnostics.push(diagnostic('skill.namespace-reserved', message, { path }));
  }
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

function claimedNamespace({ namespace, dir }: PublishClaim): Namespace | undefined {
  if (namespace !== undefined && isNamespace(namespace)) return namespace;
  const slash = dir.indexOf('/');
  const first = slash < 0 ? '' : dir.slice(0, slash);
  return isNamespace(first) ? first : undefined;
}

function grantedNamespace(claim: PublishClaim, claimed: Namespace | undefined, skillId: string): Namespace {
  if (claim.rootKind === 'builtin') return claimed ?? 'public';
  return claimed !== undefined && claim.overrides.has(`${claimed}.${skillId}`) ? claimed : 'custom';
}
