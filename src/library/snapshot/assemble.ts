import { hash } from 'node:crypto';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { RootKind, Skill } from '../../contracts/skills/skill.ts';
import { expectBody } from '../../skills/catalog/catalog-entry.ts';
import { firstOfEachId } from '../../skills/load/first-of-each-id.ts';
import { skillOfParts } from '../../skills/load/load-skill-folder.ts';
import type { LoadMoreRoots, RootGrants } from '../../skills/load/load-roots.ts';
import { loadUnchecked, type SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { type HeadRecord, rootName } from '../heads/head-record.ts';
import type { StoreState } from '../heads/look-at-store.ts';
import type { LibraryRoots } from './root-stores.ts';
import type { Admit, GateVerdict } from './skill-library.ts';

/** Rules for making a snapshot from the states of stores. */
export interface AssembleOptions {
  roots: Pick<LibraryRoots, 'paths' | 'rules'>;
  admit: Admit | undefined;
  /** Refuses unapproved skills of all roots. */
  frozen: RootGrants['admit'];
  /** Stores that are not read at all. */
  verdict: GateVerdict | undefined;
}

/** The origin of a skill in a snapshot. */
export interface SkillSource {
  state: StoreState;
  record: HeadRecord;
}

/** The skills of a snapshot, as their heads describe them. */
export interface Assembled {
  subsystem: SkillsSubsystem;
  /** Skills from stores, including skills that another one shadows. */
  sources: ReadonlyMap<Skill, SkillSource>;
  /** Skills that may not be loaded. */
  refused: ReadonlyMap<Skill, SkillSource & { diagnostic: Diagnostic }>;
}

/** Makes skills from the states of stores, by precedence, policy and approval. */
export function assemble(all: readonly StoreState[], { admit, frozen, verdict, roots }: AssembleOptions): Assembled {
  const states = all.map((state) => closedBy(state, verdict?.closed.get(state.store)));
  const sources = new Map<Skill, SkillSource>();
  const refused = new Map<Skill, SkillSource & { diagnostic: Diagnostic }>();
  const loadMore: LoadMoreRoots = (grants, index) => [
    { kind: 'builtin', skills: [], diagnostics: [...(verdict?.diagnostics ?? [])] },
    ...states.flatMap((state) =>
      kindsOf(state).map((kind) => ({ kind, ...loadState(state, kind, grants, index + states.indexOf(state)) })),
    ),
  ];

  const loadState = (state: StoreState, kind: RootKind, grants: RootGrants, index: number) => {
    const diagnostics: Diagnostic[] = kind === kindsOf(state)[0] ? [...state.diagnostics, ...outageOf(state)] : [];
    const skills: Skill[] = [];
    const { id } = state.store;
    const path = roots.paths.get(state.store) ?? id;
    for (const record of state.records) {
      if (record.item.kind !== kind) continue;
      const made = skillOf(state, record, { kind, index, path, ...grants });
      if (made.skill !== undefined && record.bodyBytes !== undefined) expectBody(made.skill, record.bodyBytes);
      if (made.skill !== undefined && !roots.paths.has(state.store)) made.skill.ofStore = true;
      diagnostics.push(...made.diagnostics);
      if (made.skill === undefined) continue;
      const refusal = frozen?.(made.skill) ?? admit?.(made.skill, record.item.origin);
      if (refusal === undefined) {
        sources.set(made.skill, { state, record });
        skills.push(made.skill);
      } else {
        refused.set(made.skill, { state, record, diagnostic: refusal });
        diagnostics.push(refusal);
      }
    }
    const kept = firstOfEachId(skills);
    return {
      skills: kept.skills,
      diagnostics: [...withoutEqual(diagnostics), ...kept.duplicates.values(), ...kept.copies],
    };
  };

  return { subsystem: loadUnchecked({ descriptor: roots.rules, loadMore, admit: frozen }), sources, refused };
}

function skillOf(
  { store }: StoreState,
  { item, skillFile, files, digest, names, reading }: HeadRecord,
  root: { kind: RootKind; index: number; path: string } & RootGrants,
): { skill?: Skill; diagnostics: Diagnostic[] } {
  // A fresh copy: skills get frozen, and one record serves many snapshots. The fields object stays the same, as places in the text are attached to
  // it.
  const parts = reading.parts && { ...reading.parts };
  return skillOfParts(
    { ...root, name: rootName(store, item) },
    {
      ...reading,
      ...(parts === undefined ? {} : { parts }),
      dir: item.path,
      skillFile,
      place: undefined,
      files: [...(files ?? names.map(({ path, bytes }) => ({ path, bytes, digest: '', executable: false })))],
      // A stand-in while the real digest is unknown; it changes with the bytes.
      digest: digest ?? `head:${hash('sha256', JSON.stringify([store.id, item.path, item.revision]))}`,
    },
  );
}

function closedBy(state: StoreState, reason: Diagnostic | undefined): StoreState {
  return reason === undefined ? state : { ...state, items: [], records: [], diagnostics: [reason] };
}

function kindsOf({ items }: StoreState): RootKind[] {
  const kinds = [...new Set(items.map(({ kind }) => kind))];
  return kinds.length === 0 ? ['builtin'] : kinds;
}

function outageOf({ store, outage, listedAt }: StoreState): Diagnostic[] {
  if (outage === undefined) return [];
  const when = new Date(listedAt).toISOString();
  const message = `Skills of ${store.id} are those of ${when}, ${ageOf(Date.now() - listedAt)} ago: it is out of reach. ${outage}`;
  return [libraryDiagnostic('store.stale', message)];
}

function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** The list of a store and the text of a skill may give equal diagnostics. */
function withoutEqual(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((found) => [JSON.stringify(found), found])).values()];
}
