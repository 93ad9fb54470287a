import type { YAMLMap } from 'yaml';
import type { SkillFields } from '../../contracts/skills/skill.ts';
import {
  commaListShape,
  forbiddingShape,
  importListShape,
  lineListShape,
  nameListShape,
  permissionListShape,
  providerShape,
  textListShape,
  textMapShape,
  textShape,
  triggersShape,
  truthShape,
} from './field-shapes.ts';
import type { Fault, Shape } from './field-shapes.ts';
import { dataOf, entriesOf, isNull, setOwn } from './yaml/yaml-values.ts';

/** Every known key of the frontmatter in all dialects, with its field and its shape. */
export const FIELD_RULES: ReadonlyMap<string, { field: keyof SkillFields; shape: Shape }> = new Map([
  ['name', { field: 'name', shape: textShape }],
  ['description', { field: 'description', shape: textShape }],
  ['version', { field: 'version', shape: textShape }],
  ['category', { field: 'category', shape: textShape }],
  ['tags', { field: 'tags', shape: commaListShape }],
  ['author', { field: 'author', shape: textShape }],
  ['created', { field: 'created', shape: textShape }],
  ['license', { field: 'license', shape: textShape }],
  ['compatibility', { field: 'compatibility', shape: textShape }],
  ['metadata', { field: 'metadata', shape: textMapShape }],
  ['displayName', { field: 'displayName', shape: textShape }],
  ['namespace', { field: 'namespace', shape: textShape }],
  ['when_to_use', { field: 'whenToUse', shape: lineListShape }],
  ['import', { field: 'imports', shape: importListShape }],
  ['imports', { field: 'imports', shape: importListShape }],
  ['allowed-tools', { field: 'allowedTools', shape: permissionListShape }],
  ['triggers', { field: 'triggers', shape: triggersShape }],
  ['toolsets', { field: 'toolsets', shape: textListShape }],
  ['scripts', { field: 'scripts', shape: textListShape }],
  ['default_enabled', { field: 'defaultEnabled', shape: truthShape }],
  ['disable-model-invocation', { field: 'disableModelInvocation', shape: forbiddingShape }],
  ['user-invocable', { field: 'userInvocable', shape: truthShape }],
  ['brief_description', { field: 'briefDescription', shape: textShape }],
  ['bindShells', { field: 'bindShells', shape: commaListShape }],
  ['provider', { field: 'provider', shape: providerShape }],
  ['tools', { field: 'tools', shape: nameListShape }],
  ['dependencies', { field: 'dependencies', shape: textListShape }],
]);

/** The frontmatter of a skill as fields. */
export interface FieldsReading {
  fields: SkillFields;
  /** Unknown keys, and known keys of an unusable shape, with their YAML values. */
  extra: Record<string, unknown>;
  /** Known keys whose values could not be used, in the order of the file. */
  unusable: Fault[];
  /** The nodes of all keys, for their places. */
  keyNodes: ReadonlyMap<string, unknown>;
}

/**
 * Turns the frontmatter of a skill into fields.
 *
 * @param root mapping that `readFrontMatter` read
 * @returns fields, unknown keys and unusable ones
 */
export function readFields(root: YAMLMap): FieldsReading {
  const values: Partial<Record<keyof SkillFields, unknown>> = {};
  const extra: Record<string, unknown> = {};
  const unusable: Fault[] = [];
  const imports: Record<string, string[]> = {};
  const keyNodes = new Map<string, unknown>();
  for (const { key, keyNode, node } of entriesOf(root) ?? []) {
    keyNodes.set(key, keyNode);
    const rule = FIELD_RULES.get(key);
    if (rule === undefined) {
      setOwn(extra, key, dataOf(node));
      continue;
    }
    if (isNull(node)) continue;
    const { allowed, read } = rule.shape;
    const shaped = read(node);
    if (shaped === undefined) extra[key] = dataOf(node);
    else if (shaped.rest !== undefined) extra[key] = shaped.rest;
    if (shaped === undefined || shaped.faulty === true) unusable.push({ field: key, keyNode, allowed });
    for (const fault of shaped?.faults ?? []) unusable.push({ ...fault, field: `${key}.${fault.field}` });
    if (shaped?.value === undefined) continue;
    if (rule.field === 'imports') imports[key] = shaped.value as string[];
    else values[rule.field] = shaped.value;
  }
  const imported = [...new Set([...(imports['import'] ?? []), ...(imports['imports'] ?? [])])];
  if (imported.length > 0) values.imports = imported;
  return { fields: values as SkillFields, extra, unusable, keyNodes };
}
