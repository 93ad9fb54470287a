import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { SKILL_FILE } from '../../skills/load/files/skill-file-name.ts';
import { permissionListShape } from '../../skills/parse/field-shapes.ts';
import { validateStrict } from '../../skills/parse/strict-validate.ts';
import { entriesOf, isNull, writtenText } from '../../skills/parse/yaml/yaml-values.ts';
import { codePointLength, cutTo } from '../../skills/text/text.ts';
import { flowText, doubleQuoted } from './flow-text.ts';
import { readSource, writeSource } from './skill-source.ts';

/** Prefix of the `metadata` keys that keep other keys of the frontmatter, as YAML on one line. */
export const KEPT = 'skillcell.';

/** Target of an export: the specification, or the specification with the further keys of Claude Code. */
export type Dialect = 'agentskills' | 'claude';

const MORE_KEYS: Readonly<Record<Dialect, readonly string[]>> = {
  agentskills: [],
  claude: ['disable-model-invocation', 'user-invocable', 'when_to_use'],
};
const TEXT_LIMITS = { description: 1024, license: Number.POSITIVE_INFINITY, compatibility: 500 } as const;

/**
 * Writes a skill for other systems, with the keys of the Agent Skills specification. All other keys go into `metadata`.
 *
 * @param name of the new folder
 * @param tree files of the skill
 * @throws SkillcellError `skills.invalid` for a skill that the specification cannot hold
 */
export function exportSkill(name: string, tree: SkillTree, dialect: Dialect): SkillTree {
  const source = readSource(name, tree);
  const { nodes } = source;
  const lines = [`name: ${doubleQuoted(name)}`];
  const kept = new Map<string, string>();
  if (writtenText(nodes.get('name')) !== name) kept.set('name', flowText(nodes.get('name')));
  for (const [key, limit] of Object.entries(TEXT_LIMITS)) {
    if (!nodes.has(key) || isNull(nodes.get(key))) continue;
    const text = writtenText(nodes.get(key));
    const shown = cutTo((text ?? '').trim(), limit);
    if (text === undefined || text.trim() === '' || codePointLength(text.trim()) > limit)
      kept.set(key, flowText(nodes.get(key)));
    if (shown !== '') lines.push(`${key}: ${doubleQuoted(shown)}`);
  }
  const tools = nodes.get('allowed-tools');
  if (nodes.has('allowed-tools')) {
    const list = permissionListShape.read(tools)?.value as string[] | undefined;
    if (list !== undefined) lines.push(`allowed-tools: ${doubleQuoted(list.join(' '))}`);
    if (list === undefined || writtenText(tools) !== list.join(' ')) kept.set('allowed-tools', flowText(tools));
  }
  const plain = metadataOf(nodes.get('metadata'), kept);
  const known = new Set(['name', 'metadata', 'allowed-tools', ...Object.keys(TEXT_LIMITS)]);
  for (const [key, node] of nodes) {
    if (known.has(key)) continue;
    if (MORE_KEYS[dialect].includes(key)) lines.push(`${key}: ${flowText(node)}`);
    else kept.set(key, flowText(node));
  }
  const metadata = [...plain, ...[...kept].map(([key, text]) => [`${KEPT}${key}`, text] as const)];
  if (metadata.length > 0)
    lines.push('metadata:', ...metadata.map(([key, text]) => `  ${doubleQuoted(key)}: ${doubleQuoted(text)}`));
  const written = writeSource(name, lines, source);
  const faults = validateStrict(name, written.get(SKILL_FILE)?.bytes ?? null, SKILL_FILE).filter(
    ({ code }) => dialect === 'agentskills' || code !== 'strict.field-unknown',
  );
  if (faults.length === 0) return written;
  const message = `Cannot export the skill ${JSON.stringify(name)}: ${faults[0]?.message}`;
  throw new SkillcellError('skills.invalid', message, { diagnostics: faults });
}

/** Entries of the metadata that are texts. Other values, and keys with the prefix {@link KEPT}, are kept as one entry. */
function metadataOf(node: unknown, kept: Map<string, string>): (readonly [string, string])[] {
  const entries = entriesOf(node);
  if (entries === undefined) {
    if (node !== undefined && !isNull(node)) kept.set('metadata', flowText(node));
    return [];
  }
  const isPlain = (key: string, value: unknown): boolean => writtenText(value) !== undefined && !key.startsWith(KEPT);
  const others = entries.filter(({ key, node: value }) => !isPlain(key, value));
  if (others.length > 0)
    kept.set(
      'metadata',
      `{${others.map(({ key, node: value }) => `${doubleQuoted(key)}: ${flowText(value)}`).join(', ')}}`,
    );
  return entries.flatMap(({ key, node: value }) =>
    isPlain(key, value) ? [[key, writtenText(value) ?? ''] as const] : [],
  );
}
