import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { bareReference, fullId, withoutRange } from '../text/bare-reference.ts';
import { meetsRange, rangeOf, type VersionDemand } from './version-range.ts';

/**
 * Refuses a closure if a skill has another version than a reference or an import asks for.
 *
 * @param refs as they were given
 * @param skills all skills that are loaded for them, one for each id
 * @throws SkillcellError `skills.version-unmet`
 */
export function assertVersions(refs: readonly string[], skills: readonly Skill[]): void {
  const demands = [...demandsOfRefs(refs, skills), ...skills.flatMap(demandsOfSkill)];
  for (const skill of demands.length === 0 ? [] : skills) {
    const rows = demands.filter(({ id }) => id === skill.id);
    if (rows.some(({ range }) => !meetsRange(skill.fields.version, range))) throw versionUnmet(rows, [skill]);
  }
}

function demandsOfRefs(refs: readonly string[], skills: readonly Skill[]): VersionDemand[] {
  return refs.flatMap((ref) => {
    const range = rangeOf(ref);
    if (range === undefined) return [];
    const text = bareReference(withoutRange(ref));
    const id = skills.find((skill) => skill.id === text || skill.id === fullId(text))?.id;
    return id === undefined ? [] : [{ id, range, by: 'the request' }];
  });
}

/** The versions that the imports of a skill ask for. */
export function demandsOfSkill({ id: by, fields }: Skill): VersionDemand[] {
  return (fields.imports ?? []).flatMap((written) => {
    const range = rangeOf(written);
    return range === undefined ? [] : [{ id: withoutRange(written), range, by }];
  });
}

/** The error for demands that no loaded version meets. It names both sides. */
export function versionUnmet(demands: readonly VersionDemand[], there: readonly Skill[]): SkillcellError {
  const asked = [...new Set(demands.map(({ by, range }) => `${by} asks for ${quotedText(range)}`))].join(', ');
  const versions = there.map(({ fields }) =>
    fields.version === undefined ? 'no version' : quotedText(fields.version),
  );
  return new SkillcellError(
    'skills.version-unmet',
    `Cannot load ${demands[0]?.id ?? 'a skill'}: ${asked}, and no version fits, got ${versions.join(', ')}.`,
  );
}
