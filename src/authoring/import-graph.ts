import { policyFor } from '../skills/select/policy.ts';
import { withoutRange } from '../skills/text/bare-reference.ts';
import type { SkillsSubsystem } from '../skills/subsystem.ts';

/** Outcome of an import: followed, or dropped for a reason. */
export type ImportState = 'followed' | 'cycle' | 'unknown' | 'denied';

/** One import of a skill. */
export interface ImportEdge {
  from: string;
  /** Full id; for an unknown skill, the id as written. */
  to: string;
  state: ImportState;
}

/** The imports of skills, direct and indirect. */
export interface ImportGraph {
  /** Full ids, sorted: the roots and the skills that they reach. */
  skills: string[];
  /** By importer, each in the order of its imports. */
  imports: ImportEdge[];
  /** Ids along each cycle, from the first visited skill on; each cycle is one dropped import. */
  cycles: string[][];
}

/**
 * Follows imports in the order of loading: depth first. `enabled` and the namespace do not restrict imports, `disabled` does.
 *
 * @param roots full ids that the consumer may ask for
 */
export function importGraph(
  subsystem: SkillsSubsystem,
  roots: readonly string[],
  consumer: string | undefined,
): ImportGraph {
  const byId = new Map(subsystem.skills.map((skill) => [skill.id, skill]));
  const policy = policyFor(subsystem.agentsConfig, consumer);
  const state = new Map<string, 'open' | 'done'>();
  const imports = new Map<string, ImportEdge[]>();
  const cycles: string[][] = [];
  const importsOf = (id: string): Iterator<string> => (byId.get(id)?.fields.imports ?? []).map(withoutRange).values();

  for (const root of roots) {
    if (state.has(root)) continue;
    // Authors decide how long chains are, so there is no recursion.
    const path = [{ id: root, left: importsOf(root) }];
    state.set(root, 'open');
    imports.set(root, []);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { value: to, done } = top.left.next();
      if (done === true) {
        state.set(top.id, 'done');
        path.pop();
        continue;
      }
      const edge = (became: ImportState): void => void imports.get(top.id)?.push({ from: top.id, to, state: became });
      if (!byId.has(to)) edge('unknown');
      else if (policy.denies(to)) edge('denied');
      else if (state.get(to) === 'open') {
        edge('cycle');
        cycles.push(path.slice(path.findIndex(({ id }) => id === to)).map(({ id }) => id));
      } else {
        edge('followed');
        if (state.has(to)) continue;
        state.set(to, 'open');
        imports.set(to, []);
        path.push({ id: to, left: importsOf(to) });
      }
    }
  }
  const skills = subsystem.skills.flatMap(({ id }) => (state.has(id) ? [id] : []));
  return { skills, imports: skills.flatMap((id) => imports.get(id) ?? []), cycles };
}
