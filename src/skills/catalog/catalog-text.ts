import type { Skill, ToolRow } from '../../contracts/skills/skill.ts';
import { bodyTokens, type CatalogEntry, type CatalogLayout, entryBrief } from './catalog-entry.ts';
import { oneLine, wrapText } from '../text/text.ts';

const HEADING =
  '[SKILL CATALOG]\n' +
  'Load a skill by its short id or as sk:<namespace>.<skill_id>. Use one to three skills a step.\n';
const DESCRIPTION_WIDTH = 76;
const WHY_WIDTH = 70;

/** The catalog for prompts. It has no ruled lines, because each line costs tokens. */
export const textLayout: CatalogLayout = {
  empty: '[SKILL CATALOG]\n(no skills)\n',
  frame: { before: `${HEADING}\n`, between: '\n', after: '' },
  idFrame: { before: `${HEADING}\n`, after: '' },
  entry: writeEntry,
  briefEntry: writeBrief,
  idEntry: (entry) => `📦 [${entry.shortId}] ${entry.skill.id}\n`,
  beforeNotice: (kept) => (kept === 0 ? '' : '\n'),
  description: { wrapWidth: DESCRIPTION_WIDTH, lineOverhead: 4 },
};

function writeEntry({ shortId, skill }: CatalogEntry, description: string): string {
  const { fields } = skill;
  const lines = [firstLine(shortId, skill)];
  const kind = kindLine(skill);
  if (kind !== '') lines.push(`   ${kind}`);
  for (const line of wrapText(description, DESCRIPTION_WIDTH)) lines.push(`   ${line}`);
  lines.push(`   🧮 ~${bodyTokens(skill)} tokens`);
  if (skill.tools.length > 0) lines.push('   🛠️  Tools:', ...skill.tools.flatMap(toolLines));
  const uses = (fields.whenToUse ?? []).map(oneLine).filter((use) => use !== '');
  if (uses.length > 0) lines.push('   ⚡ When to use:', ...uses.map((use) => `      • ${use}`));
  return `${lines.join('\n')}\n`;
}

function writeBrief(entry: CatalogEntry): string {
  const brief = wrapText(entryBrief(entry), DESCRIPTION_WIDTH).map((line) => `   ${line}`);
  return `${[firstLine(entry.shortId, entry.skill), ...brief].join('\n')}\n`;
}

function firstLine(shortId: string, { id, name, fields }: Skill): string {
  const version = oneLine(fields.version ?? '');
  return `📦 [${shortId}] ${id}${version === '' ? '' : ` v${version}`} — ${name}`;
}

function kindLine({ fields }: Skill): string {
  const tags = (fields.tags ?? []).map(oneLine).filter((tag) => tag !== '');
  return [oneLine(fields.category ?? ''), tags.join(', ')].filter((part) => part !== '').join(' • ');
}

function toolLines(tool: ToolRow): string[] {
  const role = oneLine(tool.role ?? '');
  const why = wrapText(oneLine(tool.why ?? ''), WHY_WIDTH);
  return [
    `       • ${oneLine(tool.id)}${role === '' ? '' : ` (${role})`}`,
    ...why.map((line, index) => `         ${index === 0 ? '→' : ' '} ${line}`),
  ];
}
