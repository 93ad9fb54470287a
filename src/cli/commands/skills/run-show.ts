import type { ReferenceRow, Skill, ToolRow } from '../../../contracts/skills/skill.ts';
import { bodyTokens } from '../../../skills/catalog/catalog-entry.ts';
import { oneLine } from '../../../skills/text/text.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { referenceError } from '../../options/skills/reference-error.ts';
import { noteDiagnostics, openSkills } from '../../options/skills/skills-context.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/** `skillcell skills show`: prints one skill as it was loaded. */
export async function runShow(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const { subsystem, consumer } = await openSkills(context, 'none');
  const catalog = subsystem.catalog({ consumer });
  // Without a consumer, the host itself asks, and the host may see internal skills.
  const options = { consumer, catalog, includeInternal: consumer === undefined };
  const { rows } = subsystem.resolve(given.operands, options);
  const row: ReferenceRow | undefined = rows[0];
  const skill = row?.status === 'loaded' ? subsystem.skills.find(({ id }) => id === row.id) : undefined;
  if (skill === undefined) throw referenceError('show the skill', rows, subsystem);
  if (json) await output.json({ ...skill, tokens: bodyTokens(skill) });
  else {
    await noteDiagnostics(context, skill.diagnostics);
    await output.text(describe(skill));
  }
  return 0;
}

function describe(skill: Skill): string {
  const { id, name, fields, files, tools, sources, digest, rootKind, dir, body } = skill;
  const lines = [
    `${id}${fields.version === undefined ? '' : ` v${oneLine(fields.version)}`} — ${name}`,
    oneLine(fields.description ?? ''),
    '',
    ...(fields.disableModelInvocation === true ? ['for people only: in no catalog and no match'] : []),
    ...(fields.userInvocable === false ? ['for models only: not meant to be asked for by people'] : []),
    ...fieldLines(skill),
    `root: ${rootKind}, ${dir}`,
    `digest: ${digest}`,
    `tokens: ~${bodyTokens(skill)}`,
    ...files.map(({ path, bytes, executable }) => `file: ${path} (${bytes} bytes${executable ? ', executable' : ''})`),
    ...tools.map(toolLine),
    ...sources.map(({ sid, url, title }) => `source ${sid ?? '-'}: ${title ?? ''} ${url ?? ''}`.trimEnd()),
  ];
  return `${lines.map(escapeLine).join('\n')}\n\n${body.trim()}\n`;
}

/** Fields that have lines of their own above, or would repeat them. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...['name', 'displayName', 'description', 'version', 'disableModelInvocation', 'userInvocable'],
]);

/** Every other field of the frontmatter, and after them the keys that no dialect knows. */
function fieldLines({ fields, extra }: Skill): string[] {
  const known = Object.entries(fields).filter(([key]) => !ELSEWHERE.has(key));
  return [
    ...known.map(([key, value]) => `${key}: ${written(value)}`),
    ...Object.entries(extra).map(([key, value]) => `${key} (other field): ${written(value)}`),
  ];
}

function written(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function toolLine({ id, role, why }: ToolRow): string {
  return `tool: ${id}${role === undefined ? '' : ` (${role})`}${why === undefined ? '' : ` — ${oneLine(why)}`}`;
}
