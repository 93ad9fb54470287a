import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { demandsOfSkill, versionUnmet } from '../../skills/select/assert-versions.ts';
import { meetsRange, type VersionDemand } from '../../skills/select/version-range.ts';
import { withoutRange } from '../../skills/text/bare-reference.ts';
import { compareCodePoints } from '../../skills/text/text.ts';

/** Limit of attempts beyond one for each skill, so that no set of skills can keep a library busy. */
const LOOKS = 10_000;

/** Input of {@link chooseVersions}. */
export interface VersionRequest {
  /** Requested full ids. */
  ids: readonly string[];
  /** Ranges in the request itself. */
  demands: readonly VersionDemand[];
  /** Every version of each skill, the preferred one first. */
  versions: ReadonlyMap<string, readonly Skill[]>;
  /** Whether the consumer's policy excludes a skill. */
  denies(id: string): boolean;
}

/** The fitting versions of a skill, of which one is chosen; the next ones are alternatives. */
interface Choice {
  id: string;
  fitting: readonly Skill[];
  /** Index of the chosen one. */
  at: number;
}

/** The choices so far, and their demands. */
interface Selection {
  readonly chosen: ReadonlyMap<string, Skill>;
  rowsOf(id: string): readonly VersionDemand[];
  take(id: string, skill: Skill): void;
  drop(id: string): void;
  /** The first requested skill without a chosen version. */
  open(): string | undefined;
}

/**
 * Chooses one version of each requested or imported skill, such that all ranges are met. The order of the request does not matter.
 *
 * @returns the closure, by id
 * @throws SkillcellError `skills.version-unmet` where no versions go together, and where none were found within the limit: 10,000 attempts more
 * than there are skills
 */
export function chooseVersions(request: VersionRequest): Map<string, Skill> {
  const { ids, versions } = request;
  const most = LOOKS + versions.size;
  const selection = openSelection(request);
  const choices: Choice[] = [];
  let conflict: SkillcellError | undefined;
  for (let looks = 0; looks < most; looks += 1) {
    const last = choices.at(-1);
    const broken = last && brokenBy(last, selection);
    const id = broken ?? selection.open();
    if (id === undefined) return new Map(selection.chosen);
    const rows = selection.rowsOf(id);
    const there = versions.get(id) ?? [];
    const fitting = broken === undefined ? there.filter((skill) => isMet(skill, rows)) : [];
    if (fitting.length > 0) choices.push({ id, fitting, at: -1 });
    else conflict = versionUnmet(rows, there);
    if (!takeNext(choices, selection)) throw conflict as SkillcellError;
  }
  const asked = ids.toSorted(compareCodePoints).join(', ');
  const message = `Cannot load ${asked}: no versions that go together were found within ${most} attempts.`;
  const hint = `Ask for versions by narrower ranges.${conflict === undefined ? '' : ` The last attempt failed: ${conflict.message}`}`;
  throw new SkillcellError('skills.version-unmet', message, { hint });
}

/** Takes the next version of the last choice, and drops choices without a next one; false where none is left. */
function takeNext(choices: Choice[], selection: Selection): boolean {
  for (let last = choices.at(-1); last !== undefined; last = choices.at(-1)) {
    if (last.at >= 0) selection.drop(last.id);
    last.at += 1;
    const skill = last.fitting[last.at];
    if (skill !== undefined) {
      selection.take(last.id, skill);
      return true;
    }
    choices.pop();
  }
  return false;
}

/** A chosen skill with a version that the last choice does not accept. All earlier choices go together. */
function brokenBy({ id }: Choice, { chosen }: Selection): string | undefined {
  const broken = demandsOfSkill(chosen.get(id) as Skill).find((row) => {
    const skill = chosen.get(row.id);
    return skill !== undefined && !isMet(skill, [row]);
  });
  return broken?.id;
}

function isMet({ fields }: Skill, rows: readonly VersionDemand[]): boolean {
  return rows.every(({ range }) => meetsRange(fields.version, range));
}

function openSelection({ ids, demands, versions, denies }: VersionRequest): Selection {
  const chosen = new Map<string, Skill>();
  const rows = new Map<string, VersionDemand[]>();
  /** Number of demands for each skill. */
  const wanted = new Map<string, number>();
  /** In code-point order. */
  const open: string[] = [];
  const rowsOf = (id: string): VersionDemand[] => rows.get(id) ?? [];
  const addRow = (row: VersionDemand): void => {
    const known = rows.get(row.id);
    if (known === undefined) rows.set(row.id, [row]);
    else known.push(row);
  };
  const want = (id: string, more: number): void => {
    if (!versions.has(id) || denies(id)) return;
    const count = (wanted.get(id) ?? 0) + more;
    if (count === 0) wanted.delete(id);
    else wanted.set(id, count);
    settle(id);
  };
  const settle = (id: string): void => {
    const at = placeOf(open, id);
    const [isOpen, wasOpen] = [wanted.has(id) && !chosen.has(id), open[at] === id];
    if (isOpen && !wasOpen) open.splice(at, 0, id);
    else if (!isOpen && wasOpen) open.splice(at, 1);
  };
  const importsOf = ({ fields }: Skill): string[] => (fields.imports ?? []).map(withoutRange);
  for (const row of demands) addRow(row);
  for (const id of ids) want(id, 1);
  return {
    chosen,
    rowsOf,
    take(id, skill) {
      chosen.set(id, skill);
      settle(id);
      for (const row of demandsOfSkill(skill)) addRow(row);
      for (const other of importsOf(skill)) want(other, 1);
    },
    drop(id) {
      const skill = chosen.get(id) as Skill;
      chosen.delete(id);
      // Drops go in reverse order of takes, so the rows of this skill are the last ones.
      for (const row of demandsOfSkill(skill)) rows.get(row.id)?.pop();
      for (const other of importsOf(skill)) want(other, -1);
      settle(id);
    },
    open: () => open[0],
  };
}

/** The index of a text in a sorted list, or the index where it belongs. */
function placeOf(sorted: readonly string[], text: string): number {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >> 1;
    if (compareCodePoints(sorted[middle] ?? '', text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
