import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill, SkillVariant, SourceRow } from '../../contracts/skills/skill.ts';
import { rewriteCitations } from './citations.ts';
import { escapeMarkers } from './escape-markers.ts';
import { skillFilePath } from '../load/files/skill-file-name.ts';
import { COMPACT_FILE } from '../load/read-skill-parts.ts';
import { placesOf } from '../parse/field-places.ts';
import { movedDown, placeAt } from '../text/text-place.ts';
import { oneLine, removeHidden } from '../text/text.ts';

/** Bodies ready for a prompt. */
export interface RenderedSkills {
  /** In the order given; skills with nothing to render are left out. */
  bodies: { skill: Skill; text: string }[];
  /** The sources pool after rendering. */
  pool: SourceRow[];
  /** For each skill, its own sids and those of the pool. */
  map: Record<string, Record<string, number>>;
  diagnostics: Diagnostic[];
}

/**
 * Prepares the bodies of skills for a prompt: removes hidden characters, rewrites citations to the pool, trims, and escapes
 * lines that look like our markers. All callers use this one function, so the bytes are equal everywhere.
 *
 * @param skills in render order
 * @param variant `compact` takes compact.md where there is one
 * @param pool the turn's sources pool so far; it isn't changed
 * @returns the bodies and the new pool
 */
export function renderSkills(
  skills: readonly Skill[],
  variant: SkillVariant,
  pool: readonly SourceRow[],
): RenderedSkills {
  const diagnostics: Diagnostic[] = [];
  const leaveOut = (skill: Skill): void => {
    const { path } = sourceOf(skill, variant);
    diagnostics.push(diagnostic('skill.empty-body', `${skill.id} has nothing to render and is left out.`, { path }));
  };
  const texts = skills.flatMap((skill) => {
    const text = removeHidden(variant === 'compact' ? (skill.compact ?? skill.body) : skill.body);
    if (text.trim() !== '') return [{ skill, text }];
    leaveOut(skill);
    return [];
  });
  const cited = rewriteCitations({
    pool,
    skills: texts.map(({ skill, text }) => ({
      id: skill.id,
      sources: skill.sources,
      text,
      from: sourceOf(skill, variant),
    })),
  });
  diagnostics.push(...cited.diagnostics);
  const bodies = texts.flatMap(({ skill }) => {
    const citing = cited.texts[skill.id] ?? '';
    const trimmed = citing.trim();
    const { text, fenced } = escapeMarkers(trimmed);
    const [first] = fenced;
    if (first !== undefined) {
      const { path, line } = sourceOf(skill, variant);
      const above = line - 1 + linesIn(citing.slice(0, citing.indexOf(trimmed)));
      const message = `${fenced.length} ${fenced.length === 1 ? 'line' : 'lines'} of code in ${skill.id} got a backslash, since a reader could take them for our markers.`;
      diagnostics.push(diagnostic('render.escaped', message, { path, ...movedDown(placeAt(trimmed, first), above) }));
    }
    if (text !== '') return [{ skill, text }];
    leaveOut(skill);
    return [];
  });
  return { bodies, pool: cited.pool, map: cited.map, diagnostics };
}

/**
 * Writes the `[ACTIVE SKILLS]` block.
 *
 * @param bodies bodies ready for a prompt, in order
 * @returns the block with a final newline, or the empty text when there is no body
 */
export function activeSkillsBlock(bodies: RenderedSkills['bodies']): string {
  if (bodies.length === 0) return '';
  const parts = bodies.map(({ skill, text }) => `${headingOf(skill)}\n\n${text}\n\n`);
  return `[ACTIVE SKILLS]\n\n${parts.join('')}[END ACTIVE SKILLS]\n`;
}

/** The file that a text comes from, and the line on which it begins there. */
function sourceOf(skill: Skill, variant: SkillVariant): { path: string; line: number } {
  if (variant === 'compact' && skill.compact !== undefined)
    return { path: skill.dir === '.' ? COMPACT_FILE : `${skill.dir}/${COMPACT_FILE}`, line: 1 };
  return { path: skillFilePath(skill), line: placesOf(skill.fields)?.bodyLine ?? 1 };
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

function headingOf({ id, name, fields }: Skill): string {
  const version = oneLine(fields.version ?? '');
  return `## Skill: ${name} (${id})${version === '' ? '' : ` v${version}`}`;
}
