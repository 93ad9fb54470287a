import type { Skill } from '../contracts/skill.ts';
import { demandsOfSkill, versionUnmet } from '../skills/select/assert-versions.ts';
import { meetsRange, type VersionDemand } from '../skills/select/version-range.ts';
import { withoutRange } from '../skills/text/bare-reference.ts';
import { compareCodePoints } from '../skills/text/text.ts';

/** Looks at combinations of versions, so that no set of skills can keep a library busy. */
const LOOKS = 10_000;

/** What versions are chosen for. */
export interface VersionRequest {
  /** Full ids that are asked for. */
  ids: readonly string[];
  /** Ranges that the request itself names. */
  demands: readonly VersionDemand[];
  /** Every version of each skill, the preferred one first. */
  versions: ReadonlyMap<string, readonly Skill[]>;
  /** Whether the consumer's policy keeps a skill out. */
  denies(id: string): boolean;
}

/**
 * Chooses one version of each skill that is asked for or imported, such that all ranges are met. What is asked for first makes no difference.
 *
 * @returns the closure, by id
 * @throws SkillcellError `skills.version-unmet` where no versions go together
 */
export function chooseVersions({ ids, demands, versions, denies }: VersionRequest): Map<string, Skill> {
  let looks = 0;
  let conflict: { rows: readonly VersionDemand[]; there: readonly Skill[] } | undefined;

  const search = (chosen: ReadonlyMap<string, Skill>): Map<string, Skill> | undefined => {
    looks += 1;
    const asked = [...demands, ...[...chosen.values()].flatMap(demandsOfSkill)];
    const rowsOf = (id: string): VersionDemand[] => asked.filter((row) => row.id === id);
    for (const [id, skill] of chosen) {
      const rows = rowsOf(id);
      if (rows.every(({ range }) => meetsRange(skill.fields.version, range))) continue;
      conflict = { rows, there: versions.get(id) ?? [skill] };
      return undefined;
    }
    const wanted = [...ids, ...[...chosen.values()].flatMap(({ fields }) => (fields.imports ?? []).map(withoutRange))];
    const [open] = wanted
      .filter((id) => versions.has(id) && !chosen.has(id) && !denies(id))
      .toSorted(compareCodePoints);
    if (open === undefined) return new Map(chosen);
    const there = versions.get(open) ?? [];
    const rows = rowsOf(open);
    const fitting = there.filter(({ fields }) => rows.every(({ range }) => meetsRange(fields.version, range)));
    if (fitting.length === 0) conflict = { rows, there };
    for (const skill of looks > LOOKS ? [] : fitting) {
      const found = search(new Map(chosen).set(open, skill));
      if (found !== undefined) return found;
    }
    return undefined;
  };

  const found = search(new Map());
  if (found !== undefined) return found;
  throw versionUnmet(conflict?.rows ?? [], conflict?.there ?? []);
}
