import type { CatalogFormat } from '../../skills/catalog-entry.ts';
import { bodyTokens } from '../../skills/catalog-entry.ts';
import type { Gallery } from '../../skills/subsystem.ts';
import { type CommandContext, flagValue } from '../command.ts';
import { parseNumber } from '../parse-number.ts';
import { openSkills, type SkillsContext } from '../skills-context.ts';
import { usageError } from '../usage-error.ts';

const BUDGET = { minimum: 0, maximum: 1_000_000_000, unit: 'tokens' };

/** `skillcell skills list`: prints the catalog of a consumer. */
export async function listSkills(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const format = flagValue(given, 'format') ?? (json ? 'json' : 'text');
  if (given.flags.has('json') && format !== 'json')
    throw usageError('--format', '--json is the same as --format json', format);
  const budgetText = flagValue(given, 'budget');
  const budget = budgetText === undefined ? undefined : parseNumber('--budget', budgetText, BUDGET);
  const opened = await openSkills(context);
  const { subsystem, consumer } = opened;
  const shown: CatalogFormat = format === 'xml' || format === 'markdown' ? format : 'text';
  const gallery = subsystem.skillsGalleryText({ consumer, format: shown, budget });
  if (format === 'json') {
    await output.json(catalogDocument(opened, gallery));
    return 0;
  }
  await output.text(gallery.text);
  const { level, omitted } = gallery.cut;
  if (level !== 'full') {
    const left = omitted.length === 0 ? '' : `, ${omitted.length} skills left out`;
    await output.note(`The catalog is cut to its budget: ${level}${left}.`);
  }
  return 0;
}

function catalogDocument({ subsystem, consumer }: SkillsContext, { ids, digest, cut, text }: Gallery): unknown {
  const skills = subsystem.visible({ consumer }).map((skill) => {
    const { id, name, brief, fields, tools } = skill;
    return {
      shortId: `SK${ids.indexOf(id) + 1}`,
      id,
      name,
      version: fields.version ?? null,
      description: fields.description ?? '',
      brief,
      category: fields.category ?? null,
      tags: fields.tags ?? [],
      whenToUse: fields.whenToUse ?? [],
      tools,
      tokens: bodyTokens(skill),
      digest: skill.digest,
    };
  });
  return { consumer: consumer ?? null, ids, digest, skills, text, cut, diagnostics: subsystem.diagnostics };
}
