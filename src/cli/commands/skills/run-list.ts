import type { CatalogFormat } from '../../../skills/catalog/catalog-entry.ts';
import { bodyTokens } from '../../../skills/catalog/catalog-entry.ts';
import type { LeftOut } from '../../../contracts/skills/matching.ts';
import { INTERNAL_ONLY } from '../../../skills/select/resolve-references.ts';
import type { Gallery, SkillsSubsystem } from '../../../skills/subsystem.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { parseNumber } from '../../options/flags/parse-number.ts';
import { openSkills, type SkillsContext } from '../../options/skills/skills-context.ts';
import { usageError } from '../../terminal/usage-error.ts';

const BUDGET = { minimum: 0, maximum: 1_000_000_000, unit: 'tokens' };

/** `skillcell skills list`: prints the catalog of a consumer. */
export async function runList(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const format = flagValue(given, 'format') ?? (json ? 'json' : 'text');
  if (given.flags.has('json') && format !== 'json')
    throw usageError('--format', '--json is the same as --format json', format);
  const budgetText = flagValue(given, 'budget');
  const budget = budgetText === undefined ? undefined : parseNumber('--budget', budgetText, BUDGET);
  const opened = await openSkills(context);
  const { subsystem, consumer, tools } = opened;
  const shown: CatalogFormat = format === 'xml' || format === 'markdown' ? format : 'text';
  const gallery = subsystem.skillsGalleryText({ consumer, tools, format: shown, budget, budgetSteps: 'entries' });
  const code = nothingFound(subsystem) ? 1 : 0;
  if (format === 'json') {
    await output.json(catalogDocument(opened, gallery));
    return code;
  }
  await output.text(gallery.text);
  const { level, omitted } = gallery.cut;
  if (level !== 'full') {
    const left = omitted.length === 0 ? '' : `, ${omitted.length} skills left out`;
    await output.note(`The catalog is cut to its budget: ${level}${left}.`);
  }
  for (const line of leftOutLines(gallery.leftOut)) await output.note(line);
  return code;
}

/** No skill is loaded, but there are faults: an empty catalog would pass for the truth. */
function nothingFound({ skills, diagnostics }: SkillsSubsystem): boolean {
  return skills.length === 0 && diagnostics.some(({ severity }) => severity !== 'info');
}

/** One line for each reason, except that internal skills are not listed. */
function leftOutLines(leftOut: readonly LeftOut[]): string[] {
  const reasons = new Set(leftOut.map(({ reason }) => reason).filter((reason) => reason !== INTERNAL_ONLY));
  return [...reasons].map((reason) => {
    const ids = leftOut.filter((row) => row.reason === reason).map(({ id }) => id);
    return `Left out, ${reason}: ${ids.join(', ')}.`;
  });
}

function catalogDocument(
  { subsystem, consumer }: SkillsContext,
  { ids, digest, cut, text, leftOut }: Gallery,
): unknown {
  const skills = subsystem.skills
    .filter(({ id }) => ids.includes(id))
    .map((skill) => {
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
  return { consumer: consumer ?? null, ids, digest, skills, text, cut, leftOut, diagnostics: subsystem.diagnostics };
}
