import { join, resolve } from 'node:path';
import { agentsText } from '../../../authoring/dialect/agents-text.ts';
import { exportSkill } from '../../../authoring/dialect/export-skill.ts';
import { writeNewFile, writeNewFolders } from '../../../authoring/dialect/write-new.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { noteLeftOut } from '../../options/skills/note-left-out.ts';
import { referenceError } from '../../options/skills/reference-error.ts';
import { openSkills } from '../../options/skills/skills-context.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/** Folders in which agents look for exported skills. */
const FOLDERS = { agentskills: '.agents/skills', claude: '.claude/skills', 'agents-md': '.' } as const;

/** `skillcell skills export`: writes skills so that other agents read them. */
export async function runExport(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json } = context;
  const to = flagValue(given, 'to') as keyof typeof FOLDERS | undefined;
  if (to === undefined) throw usageError('--to', `it must be one of ${Object.keys(FOLDERS).join(', ')}`, '');
  const out = flagValue(given, 'output') ?? FOLDERS[to];
  if (out === '') throw usageError('--output', 'it must be a folder', out);
  const { subsystem, consumer } = await openSkills(context, 'none');
  const who = { consumer, includeInternal: consumer === undefined };
  const { rows } = subsystem.resolve(given.operands, { ...who, catalog: subsystem.catalog({ consumer }) });
  if (rows.some(({ status }) => status === 'unknown' || status === 'denied'))
    throw referenceError('export the skills', rows, subsystem);
  const ids = rows.flatMap(({ status, id }) => (status === 'loaded' && id !== undefined ? [id] : []));
  const skills = subsystem.skills.filter(({ id }) => ids.includes(id));
  // Incompatible versions fail here, before anything is written.
  const imports = subsystem.importSkillset(ids, who).skills.flatMap(({ id }) => (ids.includes(id) ? [] : [id]));
  const dialect = to === 'claude' ? 'claude' : 'agentskills';
  const trees = skills.map(
    ({ id, skillId }) => [skillId, exportSkill(skillId, subsystem.skillTree(id), dialect)] as const,
  );
  const folder = to === 'agents-md' ? join(out, 'skills') : out;
  if (to === 'agents-md') writeNewFile(resolve(io.cwd(), out), 'AGENTS.md', agentsText(skills));
  writeNewFolders(resolve(io.cwd(), folder), trees);
  const written = [
    ...(to === 'agents-md' ? [join(out, 'AGENTS.md')] : []),
    ...trees.map(([name]) => join(folder, name)),
  ];
  if (json) await output.json({ written, imports });
  else {
    for (const path of written) await output.text(`${escapeLine(path)}\n`);
    await noteLeftOut(context, ids, subsystem, who);
    if (imports.length > 0) await output.note(`Their imports are not exported with them: ${imports.join(', ')}.`);
  }
  return 0;
}
