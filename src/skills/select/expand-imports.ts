import { skillFilePath } from '../load/files/skill-file-name.ts';
import { placesOf } from '../parse/field-places.ts';
import { listNames } from '../text/list-names.ts';
import { sluggedIds } from './slugged-ids.ts';
import {
  type Diagnostic,
  diagnostic,
  type DiagnosticCode,
  type DiagnosticPlace,
} from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import type { Policy } from './policy.ts';
import { withoutRange } from '../text/bare-reference.ts';

/** Imports deeper than this below a requested skill are dropped. */
export const IMPORT_DEPTH = 32;
/** The most skills that one expansion begins. */
export const IMPORT_SKILLS = 200;

/** Names in one diagnostic; it counts the rest. */
const NAMED = 10;

type DropCode = Extract<DiagnosticCode, `import.${string}`>;

const REASONS: Readonly<Record<DropCode, string>> = {
  'import.unknown': 'no loaded skill has this id',
  'import.denied': 'disabled for this consumer',
  'import.cycle': 'leads back to a skill that is being loaded',
  'import.depth': `deeper than ${IMPORT_DEPTH} imports`,
  'import.limit': `one request loads at most ${IMPORT_SKILLS} skills`,
};

/** Requested skills with all their imports. */
export interface ExpandedImports {
  /** In load order: dependencies before dependents, each once. */
  skills: Skill[];
  diagnostics: Diagnostic[];
}

/**
 * Expands imports depth first. `enabled` and the namespace don't restrict imports, `disabled` does.
 *
 * @param requested full ids that the policy allows, in request order
 * @param byId every loaded skill
 * @param policy the consumer's policy
 * @returns the skills in load order
 */
export function expandImports(
  requested: readonly string[],
  byId: ReadonlyMap<string, Skill>,
  policy: Policy,
): ExpandedImports {
  const skills: Skill[] = [];
  const dropped = new DroppedImports((id) => sluggedIds(id, byId.values()).filter((known) => !policy.denies(known)));
  const state = new Map<string, 'open' | 'done'>();

  const begin = (id: string, depth: number, importer: Skill | undefined): void => {
    const skill = byId.get(id);
    if (skill === undefined) return dropped.add('import.unknown', importer, id);
    if (policy.denies(id)) return dropped.add('import.denied', importer, id);
    const known = state.get(id);
    if (known === 'open') return dropped.add('import.cycle', importer, id);
    if (known === 'done') return;
    if (depth > IMPORT_DEPTH) return dropped.add('import.depth', importer, id);
    if (state.size >= IMPORT_SKILLS) return dropped.add('import.limit', importer, id);
    state.set(id, 'open');
    for (const imported of skill.fields.imports ?? []) begin(withoutRange(imported), depth + 1, skill);
    state.set(id, 'done');
    skills.push(skill);
  };

  for (const id of requested) begin(id, 0, undefined);
  return { skills, diagnostics: dropped.diagnostics() };
}

/** Collects dropped imports, one diagnostic for each importer and reason, so that thousands of bad imports stay readable. */
class DroppedImports {
  readonly #groups = new Map<string, { code: DropCode; importer: Skill | undefined; ids: string[] }>();
  readonly #suggest: (id: string) => string[];

  constructor(suggest: (id: string) => string[]) {
    this.#suggest = suggest;
  }

  add(code: DropCode, importer: Skill | undefined, id: string): void {
    const key = `${code} ${importer?.id}`;
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, { code, importer, ids: [id] });
    else group.ids.push(id);
  }

  diagnostics(): Diagnostic[] {
    return [...this.#groups.values()].map(({ code, importer, ids }) => {
      const names = listNames(ids, NAMED, (id) => (code === 'import.unknown' ? this.#withSuggestion(id) : id));
      const message = `Imports of ${importer?.id ?? 'the request'} are dropped (${REASONS[code]}): ${names}.`;
      return diagnostic(code, message, importer === undefined ? {} : placeOfImports(importer));
    });
  }

  #withSuggestion(id: string): string {
    const known = this.#suggest(id);
    return known.length === 0 ? id : `${id} (there is ${known.join(', ')})`;
  }
}

function placeOfImports(importer: Skill): DiagnosticPlace {
  return { path: skillFilePath(importer), ...placesOf(importer.fields)?.imports };
}
