import type { SkillVariant, SourceRow } from '../../src/contracts/skills/skill.ts';
import type { CatalogFormat } from '../../src/skills/catalog/catalog-entry.ts';
import { createTriggerSession } from '../../src/skills/match/trigger-session.ts';
import { withLibrary, type LibraryInput } from './library.ts';
import { selectionOptions, type SelectionInput } from './selection.ts';
import { sortedCodes } from './sorted-codes.ts';

type Input = LibraryInput & SelectionInput;
type Actual = Record<string, unknown>;

/** Loads a library and lists its skills. */
export function runDiscovery(input: unknown): Actual {
  return withLibrary(input as Input, ({ subsystem }) => ({
    skills: subsystem.skills.map(({ id, name, root, dir }) => ({ id, name, root, dir })),
    manifest: Object.fromEntries(subsystem.skills.map(({ id, files }) => [id, files.map(({ path }) => path)])),
    codes: sortedCodes([...subsystem.diagnostics]),
  }));
}

/** Resolves references. */
export function runReferences(input: unknown): Actual {
  const request = input as Input;
  return withLibrary(request, ({ subsystem }) => {
    const { rows, diagnostics } = subsystem.resolve(request.refs ?? [], selectionOptions(request));
    return { rows: rows.map(withoutReason), codes: sortedCodes([...subsystem.diagnostics, ...diagnostics]) };
  });
}

/** Lists the skills that a consumer may see. */
export function runPolicy(input: unknown): Actual {
  const request = input as Input;
  return withLibrary(request, ({ subsystem }) => ({
    visible: subsystem.visible(selectionOptions(request)).map(({ id }) => id),
    codes: sortedCodes([...subsystem.diagnostics]),
  }));
}

/** Writes a catalog. */
export function runCatalog(input: unknown): Actual {
  const request = input as Input & { format: CatalogFormat; budget?: number };
  return withLibrary(request, ({ subsystem, dir }) => {
    const { format, budget } = request;
    const gallery = subsystem.skillsGalleryText({ ...selectionOptions(request), format, budget });
    const { text, ids, digest, cut, diagnostics } = gallery;
    const shown = text.replaceAll(dir, () => '{DIR}');
    return { text: shown, ids, digest, cut, codes: sortedCodes([...subsystem.diagnostics, ...diagnostics]) };
  });
}

/** Expands imports. */
export function runImports(input: unknown): Actual {
  const request = input as Input;
  return withLibrary(request, ({ subsystem }) => {
    const { skills, rows, diagnostics } = subsystem.importSkillset(request.refs ?? [], selectionOptions(request));
    const codes = sortedCodes([...subsystem.diagnostics, ...diagnostics]);
    return { order: skills.map(({ id }) => id), rows: rows.map(withoutReason), codes };
  });
}

/** Renders the block. */
export function runActiveSkills(input: unknown): Actual {
  const request = input as Input & { variant?: SkillVariant; pool?: SourceRow[] };
  return withLibrary(request, ({ subsystem }) => {
    const { refs = [], variant, pool } = request;
    const block = subsystem.buildSkillsInstructionBlock({ ...selectionOptions(request), refs, variant, pool });
    const codes = sortedCodes([...subsystem.diagnostics, ...block.diagnostics]);
    return { text: block.text, rows: block.rows.map(withoutReason), pool: block.pool, codes };
  });
}

/** Matches one query, or the queries of a session. */
export function runTriggers(input: unknown): Actual {
  const request = input as Input & {
    query?: string;
    max?: number;
    recent?: string[];
    turns?: { query: string; release?: string[] }[];
  };
  return withLibrary(request, ({ subsystem }) => {
    const codes = sortedCodes([...subsystem.diagnostics]);
    const { query, max, recent, turns } = request;
    if (query !== undefined) return { ...subsystem.match(query, { ...selectionOptions(request), max, recent }), codes };
    if (turns === undefined) throw new Error('The case has neither query nor turns.');
    const session = createTriggerSession();
    const skills = subsystem.visible(selectionOptions(request));
    const named = subsystem.enabledByName(selectionOptions(request));
    return { active: turns.map((turn) => session.turn({ ...turn, skills, named }).active), codes };
  });
}

function withoutReason({ reason: _reason, ...row }: { reason?: string }): object {
  return row;
}
