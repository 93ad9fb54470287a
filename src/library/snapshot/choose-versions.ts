import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { demandsOfSkill, versionUnmet } from '../../skills/select/assert-versions.ts';
import { meetsRange, type VersionDemand } from '../../skills/select/version-range.ts';
import { withoutRange } from '../../skills/text/bare-reference.ts';
import { compareCodePoints } from '../../skills/text/text.ts';

/** Combinations of versions that are looked at beyond one for each skill that is there, so that no set of skills can keep a library busy. */
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

/** Versions of a skill of which one was chosen, and the next ones in case that nothing goes with it. */
interface Choice {
  id: string;
  fitting: readonly Skill[];
  /** Which of them is chosen. */
  at: number;
}

/** What was chosen so far, and what that asks for. */
interface Selection {
  readonly chosen: ReadonlyMap<string, Skill>;
  rowsOf(id: string): readonly VersionDemand[];
  take(id: string, skill: Skill): void;
  drop(id: string): void;
  /** The first skill that is asked for and of which no version was chosen. */
  open(): string | undefined;
}

/**
 * Chooses one version of each skill that is asked for or imported, such that all ranges are met. What is asked for first makes no difference.
 *
 * @returns the closure, by id
 * @throws SkillcellError `skills.version-unmet` where no versions go together, and where none were found within 10,000 looks more than there are skills
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
  const message = `Cannot load ${asked}: no versions that go together were found, got none within ${most} looks.`;
  const hint = `Ask for versions by narrower ranges.${conflict === undefined ? '' : ` The last look failed so: ${conflict.message}`}`;
  throw new SkillcellError('skills.version-unmet', message, { hint });
}

/** Takes the next version of what was chosen last, and gives up what has none; false where nothing is left. */
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

/** A skill that was chosen, and whose version is not the one that the last choice asks for: what was chosen before goes together. */
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
  /** How many ask for a skill. */
  const wanted = new Map<string, number>();
  /** In order. */
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
      // What was chosen last goes first, so that its rows are the last ones.
      for (const row of demandsOfSkill(skill)) rows.get(row.id)?.pop();
      for (const other of importsOf(skill)) want(other, -1);
      settle(id);
    },
    open: () => open[0],
  };
}

/** Where a text stands in a list that is in order, or would stand. */
function placeOf(sorted: readonly string[], text: string): number {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >> 1;
    if (compareCodePoints(sorted[middle] ?? '', text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
