import type { ReferenceRow, Skill } from '../../contracts/skill.ts';
import { bodyTokens } from '../../skills/catalog-entry.ts';
import { oneLine } from '../../skills/text.ts';
import type { CommandContext } from '../command.ts';
import { referenceError } from '../reference-error.ts';
import { openSkills } from '../skills-context.ts';

/** `skillcell skills show`: prints one skill as it was loaded. */
export async function showSkill(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const { subsystem, consumer } = await openSkills(context);
  const catalog = subsystem.catalog({ consumer });
  // Whoever names no consumer is the host itself, which may look at internal skills.
  const options = { consumer, catalog, includeInternal: consumer === undefined };
  const { rows } = subsystem.resolve(given.operands, options);
  const row: ReferenceRow | undefined = rows[0];
  const skill = row?.status === 'loaded' ? subsystem.skills.find(({ id }) => id === row.id) : undefined;
  if (skill === undefined) throw referenceError('show the skill', rows, subsystem);
  if (json) await output.json({ ...skill, tokens: bodyTokens(skill) });
  else await output.text(describe(skill));
  return 0;
}

function describe(skill: Skill): string {
  const { id, name, fields, files, tools, sources, digest, rootKind, dir, body } = skill;
  const lines = [
    `${id}${fields.version === undefined ? '' : ` v${fields.version}`} — ${name}`,
    oneLine(fields.description ?? ''),
    '',
    ...(fields.imports === undefined ? [] : [`imports: ${fields.imports.join(', ')}`]),
    `root: ${rootKind}, ${dir}`,
    `digest: ${digest}`,
    `tokens: ~${bodyTokens(skill)}`,
    ...files.map(({ path, bytes, executable }) => `file: ${path} (${bytes} bytes${executable ? ', executable' : ''})`),
    ...tools.map((tool) => `tool: ${tool.id}`),
    ...sources.map(({ sid, url, title }) => `source ${sid ?? '-'}: ${title ?? ''} ${url ?? ''}`.trimEnd()),
  ];
  return `${lines.join('\n')}\n\n${body.trim()}\n`;
}
