import type { SkillTree } from '../../contracts/skills/skill.ts';
import { readYaml } from '../../skills/parse/yaml/read-yaml.ts';
import { entriesOf, isNull, writtenText } from '../../skills/parse/yaml/yaml-values.ts';
import { KEPT } from './export-skill.ts';
import { flowText, doubleQuoted } from './flow-text.ts';
import { readSource, writeSource } from './skill-source.ts';

/**
 * Reads an exported skill and restores the keys that `metadata` has kept. Other skills stay unchanged.
 *
 * @param name of its folder
 * @param tree files of the skill
 * @throws SkillcellError `skills.invalid` for a SKILL.md that cannot be read
 */
export function importSkill(name: string, tree: SkillTree): SkillTree {
  const source = readSource(name, tree);
  const metadata = entriesOf(source.nodes.get('metadata')) ?? [];
  const kept = metadata.flatMap(({ key, node }) => {
    const value = key.startsWith(KEPT) ? readKept(node) : undefined;
    return value === undefined ? [] : [{ key: key.slice(KEPT.length), value }];
  });
  if (kept.length === 0) return tree;
  const values = new Map(
    [...source.nodes].filter(([key]) => key !== 'metadata').map(([key, node]) => [key, flowText(node)]),
  );
  const taken = new Set(kept.map(({ key }) => `${KEPT}${key}`));
  const rest = metadata.filter(({ key }) => !taken.has(key));
  const pairs = rest.map(({ key, node }) => `${doubleQuoted(key)}: ${flowText(node)}`);
  for (const { key, value } of kept) {
    const entries = key === 'metadata' ? entriesOf(value) : undefined;
    if (entries !== undefined)
      pairs.push(...entries.map((each) => `${doubleQuoted(each.key)}: ${flowText(each.node)}`));
    // An export always writes a name, so a skill without a name has kept the name null.
    else if (key === 'name' && isNull(value)) values.delete(key);
    else values.set(key, flowText(value));
  }
  if (pairs.length > 0) values.set('metadata', `{${pairs.join(', ')}}`);
  return writeSource(
    name,
    [...values].map(([key, text]) => `${doubleQuoted(key)}: ${text}`),
    source,
  );
}

/** The node that a kept text holds; undefined if the text is not from an export. */
function readKept(node: unknown): unknown {
  const text = writtenText(node);
  if (text === undefined || text.includes('\n')) return undefined;
  const read = readYaml(text);
  return read.ok ? (read.root ?? undefined) : undefined;
}
