import { DESCRIPTOR_SCHEMA, type FullDescriptor, type SkillsDescriptor } from '../../contracts/skills/descriptor.ts';
import { fullDescriptorSchema, seedDescriptorSchema } from '../../contracts/skills/descriptor-schema.ts';
import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import { explainIssue, NO_WORDS } from '../../contracts/checks/explain-issue.ts';
import { catalogDigest, descriptorDigest, skillDigest } from '../text/digest.ts';
import { faultyPaths } from '../text/file-path.ts';
import { isNamespace, mayBeNamespace } from '../load/publish-id.ts';
import { isSlug } from '../text/slug.ts';

/** Result of a check. `descriptor` is absent when the descriptor is refused. */
export interface CheckedDescriptor {
  /** A copy that the caller of the check cannot change. */
  descriptor?: SkillsDescriptor;
  diagnostics: Diagnostic[];
}

/**
 * Checks a descriptor by itself: shape, schema, paths, digests. A descriptor without `schema` is in the seed's form.
 *
 * @param value anything
 * @returns a copy of the descriptor, or the reasons why it is refused
 */
export function checkDescriptor(value: unknown): CheckedDescriptor {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse('descriptor.invalid', 'The descriptor must be an object.');
  }
  const full = Object.hasOwn(value, 'schema');
  if (full && (value as { schema: unknown }).schema !== DESCRIPTOR_SCHEMA) {
    const schema = JSON.stringify((value as { schema: unknown }).schema);
    return refuse('descriptor.schema', `The schema ${schema} is not known; this version reads ${DESCRIPTOR_SCHEMA}.`);
  }
  if (holdsPrototypeKey(value)) return refuse('descriptor.invalid', 'The descriptor has a key __proto__.');
  const schema = full ? fullDescriptorSchema() : seedDescriptorSchema();
  const parsed = schema.safeParse(value, { error: () => NO_WORDS });
  if (!parsed.success) {
    const { reason, advice } = explainIssue(schema, value, parsed.error.issues, 'the descriptor');
    return refuse('descriptor.invalid', `In the descriptor, ${reason}.${advice === undefined ? '' : ` ${advice}`}`);
  }
  const descriptor = parsed.data;
  // The short form has none of the fields that this checks.
  const content = checkContent(descriptor as FullDescriptor);
  const diagnostics = [...checkNamespaces(descriptor.custom_namespaces ?? []), ...content];
  return diagnostics.length > 0 ? { diagnostics } : { descriptor, diagnostics };
}

/**
 * Tells whether a descriptor is in the portable form: it lists every skill that travels and names no path of the host.
 *
 * @param descriptor a checked descriptor
 * @returns true if skills can be rebuilt from it and their bytes alone
 */
export function isPortable(
  descriptor: SkillsDescriptor,
): descriptor is FullDescriptor & Required<Pick<FullDescriptor, 'skills' | 'catalog' | 'digest'>> {
  return (
    'schema' in descriptor &&
    descriptor.skills !== undefined &&
    descriptor.catalog !== undefined &&
    descriptor.digest !== undefined &&
    descriptor.custom_skills_root === null &&
    descriptor.bundle_root === null
  );
}

function checkNamespaces(namespaces: readonly string[]): Diagnostic[] {
  return namespaces
    .filter((namespace) => !mayBeNamespace(namespace))
    .map((namespace) => {
      const rule = 'custom_namespaces holds slugs other than public, internal, custom and skills';
      return diagnostic('descriptor.invalid', `${rule}, got ${JSON.stringify(namespace)}.`);
    });
}

function checkContent(descriptor: FullDescriptor): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const [id, skill] of Object.entries(descriptor.skills ?? {})) {
    if (!isFullId(id, descriptor.custom_namespaces ?? []))
      found.push(diagnostic('descriptor.invalid', `${JSON.stringify(id)} is not a full skill id.`));
    const faulty = faultyPaths(skill.files.map((file) => file.path));
    for (const path of faulty) {
      const message = `${id} lists ${JSON.stringify(path)}, which leaves the skill folder or clashes with another path.`;
      found.push(diagnostic('descriptor.path', message));
    }
    if (skillDigest(skill.files) !== skill.digest) {
      found.push(diagnostic('descriptor.skill-digest', `The digest of ${id} does not match its list of files.`));
    }
  }
  const { catalog, digest } = descriptor;
  if (catalog !== undefined && catalogDigest(catalog.consumer, catalog.ids) !== catalog.digest) {
    found.push(diagnostic('descriptor.digest', 'The digest of the catalog does not match its consumer and ids.'));
  }
  if (digest !== undefined && descriptorDigest(descriptor) !== digest) {
    found.push(diagnostic('descriptor.digest', 'The digest of the descriptor does not match its content.'));
  }
  return found;
}

function isFullId(id: string, customNamespaces: readonly string[]): boolean {
  const dot = id.indexOf('.');
  const namespace = id.slice(0, Math.max(0, dot));
  return (isNamespace(namespace) || customNamespaces.includes(namespace)) && isSlug(id.slice(dot + 1));
}

/** A schema skips the key `__proto__`, so the content under it would be neither checked nor applied. */
function holdsPrototypeKey(value: object): boolean {
  const { agents_config: policy, skills } = value as { agents_config?: unknown; skills?: unknown };
  return [value, policy, skills].some(
    (part) => typeof part === 'object' && part !== null && Object.hasOwn(part, '__proto__'),
  );
}

function refuse(code: 'descriptor.invalid' | 'descriptor.schema', message: string): CheckedDescriptor {
  return { diagnostics: [diagnostic(code, message)] };
}
